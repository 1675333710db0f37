"""How a run gets its scores, one file a step. Killing any process at any moment loses nothing and stores nothing twice.

start     writes a row for every output, in slices
turns     asks the queue for turns: a task is "work on this lane for a while", never a run or a row
turn      one turn of a worker: claim, evaluate, settle, until there is nothing left or others wait
claim     leases slices to a worker and reads their rows
settle    writes scores: the row's state is the fence that lets only the first one in
finish    closes slices and runs
alone     tries the rows of a slice that ended two workers, one at a time
sweep     frees what dead workers held and wakes what nobody works on
verbs     stop, resume, retry
blocked   says why a row has not run yet, from the conditions above
progress  counts

This is the only place with SQL of its own; it runs on SQLite and on PostgreSQL. The clock is the database's.
"""
