"""Reads one bad page after the other in a process of its own; prints how each ended, its work and its memory.

The work is processor time, also that of the processes it started. The memory is the largest that this process
ever held, above what it held when it began.
"""

import asyncio
import json
import os
import re
import resource
import sys
import time
from pathlib import Path

from hermes.net import addresses
from hermes.net.client import Client
from hermes.net.fetch import Fetcher
from hermes.net.guard import Guard
from hermes.net.retry import RetryPolicy
from hermes.tools.web.backends.reader import PageReader
from hermes.tools.web.reading.pool import ReadingPool


def main(urls):
    return asyncio.run(read_all(urls))


async def read_all(urls):
    guard = Guard(opened=(addresses.network("127.0.0.0/8"),))
    fetcher = Fetcher(Client(guard=guard, retry=RetryPolicy(attempts=1), environ={}))
    pool = ReadingPool(1, seconds=120)  # a busy machine is no fault: the work is what is measured
    backend = PageReader(lambda: fetcher, lambda: pool)
    await backend.extract([urls["warm"]])
    before = largest()
    for name, url in urls.items():
        began = worked(pool)
        [document] = await backend.extract([url])
        print(
            json.dumps(
                {
                    "name": name,
                    "error": document.error,
                    "content": document.content[-300:],
                    "seconds": worked(pool) - began,
                    "grown": largest() - before,
                }
            ),
            flush=True,
        )
    await pool.close()
    await fetcher.close()


def worked(pool):
    """Processor seconds of this process, of those it started and has ended, and of those at work."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime
    for worker in pool._all:
        stat = (
            Path(f"/proc/{worker._started.result()._process.pid}/stat").read_text().rpartition(")")[2].split()
        )
        seconds += (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def largest():
    """The most bytes held since the process began; `getrusage` would count those of its parent too."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


if __name__ == "__main__":
    main(json.loads(sys.stdin.read()))
