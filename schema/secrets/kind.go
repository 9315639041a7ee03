package secrets

// Kind is what a suspect would be.
type Kind string

// The kinds.
const (
	AWSAccessKey    Kind = "aws_access_key"
	GitHubToken     Kind = "github_token"
	GitLabToken     Kind = "gitlab_token"
	SlackToken      Kind = "slack_token"
	SlackWebhook    Kind = "slack_webhook"
	GoogleAPIKey    Kind = "google_api_key"
	GoogleOAuth     Kind = "google_oauth"
	AnthropicAPIKey Kind = "anthropic_api_key"
	OpenAIAPIKey    Kind = "openai_api_key"
	StripeKey       Kind = "stripe_key"
	NPMToken        Kind = "npm_token"
	HuggingFace     Kind = "huggingface_token"
	StenoSigningKey Kind = "steno_signing_key"
	PrivateKey      Kind = "private_key"
	JWT             Kind = "jwt"
	Authorization   Kind = "authorization"
	URLPassword     Kind = "url_password"
	Password        Kind = "password"
)

// token is a shape that a prefix begins: so many characters of a set behind it.
type token struct {
	prefix   string
	kind     Kind
	set      *set
	min, max int // characters behind the prefix; beyond max it is something else, 0: any number
}

// tokens, by their prefixes; of two that begin alike the longer one comes first.
var tokens = []token{
	{"AKIA", AWSAccessKey, base32, 16, 16},
	{"ASIA", AWSAccessKey, base32, 16, 16},
	{"ghp_", GitHubToken, alnum, 36, 0},
	{"gho_", GitHubToken, alnum, 36, 0},
	{"ghu_", GitHubToken, alnum, 36, 0},
	{"ghs_", GitHubToken, alnum, 36, 0},
	{"ghr_", GitHubToken, alnum, 36, 0},
	{"github_pat_", GitHubToken, word, 36, 0},
	{"glpat-", GitLabToken, wordDash, 20, 0},
	{"xoxa-", SlackToken, alnumDash, 16, 0},
	{"xoxb-", SlackToken, alnumDash, 16, 0},
	{"xoxe-", SlackToken, alnumDash, 16, 0},
	{"xoxo-", SlackToken, alnumDash, 16, 0},
	{"xoxp-", SlackToken, alnumDash, 16, 0},
	{"xoxr-", SlackToken, alnumDash, 16, 0},
	{"xoxs-", SlackToken, alnumDash, 16, 0},
	{"xapp-", SlackToken, alnumDash, 16, 0},
	{"hooks.slack.com/services/", SlackWebhook, alnumSlash, 30, 0},
	{"AIza", GoogleAPIKey, wordDash, 35, 35},
	{"GOCSPX-", GoogleOAuth, wordDash, 24, 0},
	{"ya29.", GoogleOAuth, wordDash, 24, 0},
	{"sk-ant-", AnthropicAPIKey, wordDash, 24, 0},
	{"sk-", OpenAIAPIKey, wordDash, 24, 0},
	{"sk_live_", StripeKey, alnum, 16, 0},
	{"rk_live_", StripeKey, alnum, 16, 0},
	{"npm_", NPMToken, alnum, 36, 0},
	{"hf_", HuggingFace, alnum, 30, 0},
}

// set is a set of bytes.
type set [256]bool

func setOf(ranges string) *set {
	var s set
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := int(ranges[i]); c <= int(ranges[i+1]); c++ {
			s[c] = true
		}
	}
	return &s
}

// Sets, as pairs of first and last.
var (
	base32     = setOf("AZ27")
	alnum      = setOf("azAZ09")
	alnumDash  = setOf("azAZ09--")
	alnumSlash = setOf("azAZ09//")
	word       = setOf("azAZ09__")
	wordDash   = setOf("azAZ09__--")
	base64Set  = setOf("azAZ09++//==")
	credential = setOf("azAZ09..__~~++//==--")
	hexSet     = setOf("09af")
)
