// drafts
