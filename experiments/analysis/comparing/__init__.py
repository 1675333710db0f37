"""Two experiments or more over one data set, case by case: what each evaluator says of the difference, and where.

`arrays` pairs outputs and their scores, `figures` sums them up, `kept` stores both as long as they hold, `listing` puts
the pairs in an order, `apart` tells what cannot be compared, `several` sets more than two beside one another.
"""
