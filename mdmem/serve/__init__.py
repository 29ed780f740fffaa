"""The long-lived process of a vault: it keeps history and index in step with the files, and answers searches.

`daemon` is the process, `control` starts and stops it from outside, `client` asks it. Within it, `keeping` looks at the
files and decides by `pacing` what is due, `rounds` are its threads, `watch` tells when to look, `server` answers on a
private socket (`endpoint`) by `answers`, in the words of `protocol`, and `log` keeps what was done. It must never be
needed: whatever it does, the next command does as well, and no command waits for it.
"""
