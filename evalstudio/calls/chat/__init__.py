"""Asking chat models over HTTP. Import it where it is needed, never at the top of what the web process loads.

async with open_chat() as chat:          # a process that asks alone, such as a page's test bench
    reply = await chat.ask(Ask(...))

async with open_chat(thread, slots=0) as chat:      # a worker: nothing is sent until slots are granted
    chat.set_slots(connection_id, slots=32, rpm=None)
    ...                                             # every few seconds: chat.pressure() → the shared connection
    chat.stop()                                     # those who wait get NotNow, those in flight land
"""

from evalstudio.calls.chat.client import ChatClient
from evalstudio.calls.chat.endpoint import ONCE, Endpoint, Patience
from evalstudio.calls.chat.gate import Pressure, lower, raise_
from evalstudio.calls.chat.stored import endpoint_of, open_chat

__all__ = ["ONCE", "ChatClient", "Endpoint", "Patience", "Pressure", "endpoint_of", "lower", "open_chat", "raise_"]
