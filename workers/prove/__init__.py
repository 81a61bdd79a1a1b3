"""`intake prove`: the guarantee, tested at every boundary against the sandbox CRM's own ledger.

points    where a worker can be interrupted      faults    what happens there
scenarios what is sent                           matrix    which of them meet
stage     the pipeline in one process            scene     one run on it
oracle    what the CRM's ledger says of it       telling   the result, for people and programs
"""
