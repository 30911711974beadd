"""A prompt that people can pick in the agent's program: how to answer from the documents."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

ANSWERING = """Answer the question from my documents, with the tools of Thresher.

1. Split the question into facets. Call search_documents once for each.{where}
2. Read the verdict of each result. "incorrect" means that the documents do not say it: write so, and do not fill it in
   from what you know. "ambiguous" and "unsure": say that it is uncertain.
3. Write the answer. After each sentence put the marker of the passage it stands on, and end with a list of the markers
   with file, page and link.
4. Call check on what you wrote. Mend or strike every claim that is contradicted; mark those that are unverified.

Question: {question}"""


def add(server: MCPServer) -> None:
    """Register the prompt."""

    @server.prompt(title="Answer from my documents")
    def answer_from_documents(
        question: Annotated[str, Field(description="what you want to know")],
        collection: Annotated[str, Field(description="which collection; the usual one if empty")] = "",
    ) -> str:
        """Answer a question with search_documents, cite every sentence, and check the answer before handing it over."""
        where = f" Pass collection={collection!r}." if collection else ""
        return ANSWERING.format(question=question, where=where)
