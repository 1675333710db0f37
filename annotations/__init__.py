"""People: the top floor. Grades, queues and consensus settle human evaluations through the ledger's one door."""
