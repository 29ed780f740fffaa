"""The long-lived process of a vault: it keeps history and index in step with the files, and answers searches.

    daemon.py      the process, from its lock to its last commit; alarm.py wakes its main thread, log.py keeps its words
    rounds.py      its other threads; opening.py a vault for each of them
    keeping.py     looks at the files and does what is due, which pacing.py decides; presence.py: is the vault there?
    sight.py       when to look: by events (watch.py) while these prove to come
    indexing.py    the index of words, then the vectors
    server.py      the private socket (endpoint.py); answers.py answers, protocol.py is what is said
    client.py      asks it; control.py is it there, and its end; detachment.py its start in the background

It must never be needed: whatever it does, the next command does as well, and no command waits for it.
"""
