// The order of what the site's search finds: titles with more of the words, tasks before the reference, history and
// programs last.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const words = (new URLSearchParams(window.location.search).get("q") ?? "").toLowerCase().split(/\s+/);
    score += 2 * words.filter((word) => title.toLowerCase().includes(word)).length;
    if (/^(how-to|tutorials|start)\//.test(docname) || docname === "troubleshooting") return score + 4;
    if (/^(gallery|project)\//.test(docname) || docname === "upstream-programs") return score - 4;
    return score;
  },
  objNameMatch: 20,
  objPartialMatch: 0,
  objPrio: { 0: -5, 1: -5, 2: -10 },
  objPrioDefault: -5,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
