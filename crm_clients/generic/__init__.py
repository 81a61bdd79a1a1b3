"""A CRM of one's own: how it is asked, and where its answers have what, stands in the options of its destination."""
