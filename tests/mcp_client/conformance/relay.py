"""What the suite starts for each scenario: passes it to the process that has our client loaded, and waits.

Thirty interpreters that load the SDK at once take longer than the suite waits for any of them.
"""

import json
import os
import socket
import sys

_, place, url = sys.argv
with socket.socket(socket.AF_UNIX) as link:
    link.connect(place)
    asked = {
        "url": url,
        "scenario": os.environ.get("MCP_CONFORMANCE_SCENARIO", ""),
        "context": os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"),
    }
    link.sendall(json.dumps(asked).encode() + b"\n")
    answer = link.makefile().read()
sys.stderr.write(answer)
sys.exit(bool(answer))
