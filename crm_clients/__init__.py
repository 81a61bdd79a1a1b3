"""One module a CRM, each without input or output of its own, and the transport that sends for all of them."""
