// Package secrets counts what looks like a secret in frames and events, so that whoever hands them over is
// told. It is a guess: a secret without a known shape is not found, and what is found may be none.
//
// What is looked for, as regular expressions; before a token stands nothing that could be part of it:
//
//	aws_access_key     (AKIA|ASIA)[A-Z2-7]{16}, and nothing of [A-Z0-9] behind it
//	github_token       gh[pousr]_[A-Za-z0-9]{36,}, github_pat_[A-Za-z0-9_]{36,}
//	gitlab_token       glpat-[A-Za-z0-9_-]{20,}
//	slack_token        xox[abeoprs]-[A-Za-z0-9-]{16,}, xapp-[A-Za-z0-9-]{16,}
//	slack_webhook      hooks.slack.com/services/[A-Za-z0-9/]{30,}
//	google_api_key     AIza[A-Za-z0-9_-]{35}, and nothing of these behind it
//	google_oauth       GOCSPX-[A-Za-z0-9_-]{24,}, ya29.[A-Za-z0-9_-]{24,}
//	anthropic_api_key  sk-ant-[A-Za-z0-9_-]{24,}
//	openai_api_key     sk-[A-Za-z0-9_-]{24,}
//	stripe_key         [sr]k_live_[A-Za-z0-9]{16,}
//	npm_token          npm_[A-Za-z0-9]{36,}
//	huggingface_token  hf_[A-Za-z0-9]{30,}
//	steno_signing_key  PRIVATE\+KEY\+[^+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{40,}
//	private_key        -----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----, and [A-Za-z0-9+/=]{40,} in the 256 bytes behind it
//	jwt                eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}, its header JSON with an "alg"
//	authorization      (?i)(bearer|basic) +[A-Za-z0-9._~+/=-]{20,}; behind basic the base64 of something with a colon
//	url_password       ://[^/?#@:]{1,64}:[^/?#@:]{3,128}@
//	password           (?i)(password|passwd|secret|api[_-]?key|access[_-]?key|(access|auth)[_-]?token)["'\\]*\s*(:|=|:=|=>)\s*["'\\]*[^"'`\s,;&<>\\)\]}]{8,128}
//
// To keep out what is none: a token has letters and digits, or letters of both cases, and eight different
// characters at least (of AWS six), and behind sk- sixteen without a dash; a password has a letter, and a digit or a
// sign, six different characters, and no bracket, dollar or path in it, which variables and code have; what says of
// itself that it is an example, a placeholder, redacted or the like is none; what is a token is not counted again as
// the password or the authorization that it stands for.
//
// Texts are read as they are, and with the escapes of JSON strings undone, once. A secret that a protocol
// cut into several frames is whole in the event that they make, and nowhere else: frames and events are
// counted apart.
package secrets
