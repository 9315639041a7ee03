// What the client on the SDK says: plain, of a megabyte with characters of two, three and four bytes (so
// that reads cut lines and characters anywhere), and one that will be cancelled.
export const prompts = ["Tidy the mill.", "Weigh every sack – café 😀. ".repeat(32_000), "Never mind\n\"that\"\\."];
