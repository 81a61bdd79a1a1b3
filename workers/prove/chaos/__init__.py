"""`intake prove --chaos`: real processes are killed, stopped and cut off under load; then the CRM's ledger is counted.

letters   what is sent                         senders   who sends it until it is acknowledged
faults    what befalls the processes           schedule  when, by a seed
works     the processes                        line      the connections between workers and CRM
disk      a small disk for the spool           skewed    a clock that jumps
evidence  what the CRM and the database say    verdict   what it means
run       all of it, in order                  report    the result, for people and programs
"""
