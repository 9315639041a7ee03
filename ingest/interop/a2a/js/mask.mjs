// What differs from run to run gets a name, always the same one for the same thing.
import etag from "etag";
import { answered } from "./wire.mjs";

/** mask gives a function that masks ids (by the order of their first sight), times and addresses; nothing else. */
export function mask(places) {
  const ids = new Map();
  const name = (id) => ids.get(id) ?? ids.set(id, `<id ${ids.size + 1}>`).get(id);
  return (text) => {
    for (const [place, word] of places) text = text.replaceAll(place, word);
    return text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, name)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>");
  };
}

/** written is a conversation as text. What follows from a body (whose ids and times may change it) is held against it. */
export function written(exchanges, masked) {
  const follows = { "content-length": (body) => `${body.length}`, etag: (body) => etag(body, { weak: true }) };
  const header = (body) => ([name, value]) => `${name}: ${value === follows[name]?.(body) ? "<that of the body>" : masked(value)}`;
  return exchanges.map((x) => {
    const body = answered(x);
    return [
      `==== ${x.method} ${masked(x.url)}`, ...x.requestHeaders.map(header(x.asked)), masked(x.asked.toString("utf8")),
      `---- ${x.status}`, ...x.headers.map(header(body)), masked(body.toString("utf8")), `(${x.end})`,
    ].join("\n");
  }).join("\n");
}
