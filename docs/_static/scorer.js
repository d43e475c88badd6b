// The search finds the guide first, then tutorials and how-to pages; statements of papers come last.
const FIRST = [[/^guide\//, 60], [/^tutorials\//, 45], [/^howto\//, 25], [/^(interop|explanation)\//, 10], [/^ledger\//, -30]];
var Scorer = {
  score: ([name, , , , score]) => score + (FIRST.find(([folder]) => folder.test(name))?.[1] ?? 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
