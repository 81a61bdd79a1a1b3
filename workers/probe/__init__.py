"""The contract probe: what one CRM account really does, measured with tagged records that are then removed.

It needs an account and nothing else: no database, no queue, no receiver.

    asking.py      one write, one look, waiting until something is seen
    questions.py   each question that is asked of a kind of record
    measured.py    the answers, as values and as a dated file; what deliveries take from them
    run.py         all questions in order, and the removal at the end
    telling.py     the answers in sentences
"""
