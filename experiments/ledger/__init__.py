"""How a run gets its scores, one file a step. Killing any process at any moment loses nothing and stores nothing twice.

start      writes a row for every output, in slices
turns      asks the queue for turns: a task is "work on this lane for a while", never a run or a row
turn       one turn of a worker, as `calling` (many rows wait for models) or `computing` (batches on the processor)
shift      how long a turn goes on
lines      what a worker has to do with each connection: rows in the air, share of the slots
desk       what a worker holds: slices, and which of their rows are open
claim      leases slices and reads their rows
settle     writes scores, each once: the row's state lets only the first one in; `keeping` writes what lies behind
finish     closes slices and runs
alone      tries the rows of a slice that ended two workers, one at a time
sweep      frees what dead workers held and wakes what nobody works on
answers    runs that get answers: starts them, has what came judged; `cases` writes their rows
verbs      stop, resume, retry
blocked    says why a row has not run yet, from the conditions above
progress   counts

This is the only place with SQL of its own; it runs on SQLite and on PostgreSQL. The clock is the database's. Locks are
taken in one order, a run's row before its slices, so that nobody waits in a circle.
"""
