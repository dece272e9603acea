"""Receives webhooks with nothing but Python 3.8.

    LKM_WEBHOOK_SECRET=whsec_... PORT=3000 python3 examples/webhooks/receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("LKM_WEBHOOK_SECRET", "")
TOLERANCE_SECONDS = 300


def verify(headers, body, secret):
    """Returns the event of a webhook; raises ValueError unless it was signed with the secret, just now."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("too old, or from the future")
    key = base64.b64decode(secret.split("_", 1)[-1])
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures):
        raise ValueError("not signed with this secret")
    return json.loads(body)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            event = verify(self.headers, body, SECRET)
            # An event may come twice, with the same id: remember the ids, or make the work such that twice does no harm.
            print(event["seq"], event["type"], event["id"], flush=True)
            self.send_response(204)
        except ValueError:
            self.send_response(401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print("ready", {"port": server.server_port}, flush=True)
server.serve_forever()
