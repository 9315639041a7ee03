// What the client's side of the wire sees: a fetch that notes every byte and changes none.

/** recorder gives {fetch, exchanges}. Each exchange has the request, and the answer as far as it was read. */
export function recorder() {
  const exchanges = [];
  return { exchanges, fetch: record };

  async function record(input, init) {
    const request = new Request(input, init);
    const asked = Buffer.from(await request.clone().arrayBuffer());
    const x = { method: request.method, url: request.url, requestHeaders: headers(request.headers), asked, chunks: [], end: "none" };
    exchanges.push(x);
    const answer = await fetch(request);
    Object.assign(x, { status: `${answer.status} ${answer.statusText}`, headers: headers(answer.headers) });
    if (!answer.body) return answer;
    const body = answer.body.pipeThrough(new TransformStream({
      transform(chunk, controller) {
        x.chunks.push(Buffer.from(chunk));
        controller.enqueue(chunk);
      },
      flush() { x.end = "eof"; },
    }));
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  }
}

// Those that belong to one connection and not to the message (RFC 9110, 7.6.1), and the server's clock.
const hop = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "date"];

const headers = (all) => [...all].filter(([name]) => !hop.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1));

/** answered is an answer's body. */
export const answered = (x) => Buffer.concat(x.chunks);
