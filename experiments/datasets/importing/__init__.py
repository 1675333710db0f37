"""From a file to cases and outputs.

A file goes through these modules in turn: `upload` limits what arrives, `files` refuses what is no text, `csv`, `jsonl`
and `json` make rows of it, `preview` finds the columns, `guess` proposes what they become, `mapping` turns each row
into a draft or a row error, `merging` compares drafts with the cases there are, `foretelling` says what would happen,
`running` writes it in committed batches, and `tasks` runs that in the background.
"""
