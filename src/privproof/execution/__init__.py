"""Work in chunks, and who does it: this process, processes of this machine, or an executor that is given; imports errors and memory.

`workers` has who works for one request and what crosses to them, `chunks` shares chunks out and gives back their results in order.
The chunks of a request are fixed before anybody works, and what comes of a chunk depends on nothing but the chunk: so the answer is
the same for every number of workers.
"""
