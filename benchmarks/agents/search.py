"""Which tool a client's search finds: BM25, as clients do it, over what the list says."""

from __future__ import annotations

from collections.abc import Sequence

from drf_mcp.contrib.search.ranking import ToolRanking, split_words


class Search(ToolRanking):
    """Ranks the tools of a list for a question."""

    def find_lister(self, subject: str) -> str:
        """Return the tool that lists what a subject is about, as far as the list tells."""
        scores = self.get_scores(split_words(f"list {subject}"))
        listers = [name for name in self.documents if split_words(name)[-1:] == ["list"]]
        return max(listers or self.documents, key=lambda name: scores.get(name, 0.0))

    def rank(self, question: str, right: Sequence[str]) -> tuple[int, str]:
        """Return the place of the best right tool, 1 for the top, and the tool at the top.

        A wrong tool of the same score counts as the better one; a right tool without any of the
        words has the place after the last.
        """
        found = self.get_scores(split_words(question))
        scores = {name: found.get(name, 0.0) for name in self.documents}
        best = max((scores[name] for name in right if name in scores), default=0.0)
        wrong = {name: score for name, score in scores.items() if name not in right}
        place = 1 + sum(score >= best for score in wrong.values())
        top = max(scores, key=lambda name: (scores[name], name not in right))
        return (place if best else len(scores)), top
