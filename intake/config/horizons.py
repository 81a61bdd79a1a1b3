"""How long a sender may bring the same delivery again.  Identities that go earlier make its late copy a new lead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What comes again from our own side: refused bodies and drained spool segments are kept for a week.
OURS: Final = 7

# Days, rounded up, by what each sender's own pages say of its retries; 0: it never tries again by itself.  For a
# sender that is not named here nothing is known, and it is taken for as persistent as the most persistent ones.
#   whatsapp_cloud, whatsapp_360dialog  7 days (developers.facebook.com, "Set up webhooks"; docs.360dialog.com)
#   meta_lead_ads      36 h; but its leads can be read for 90 days (developers.facebook.com, "Retrieving leads"), and
#                      `intake pull` does
#   standard_webhooks  about 75 h (svix.com, "Retry schedule", the default that the standard names); so is our `quote`
#   typeform           10 h of 408, 423, 429, 503; about 11 h of others (typeform.com/developers/webhooks)
#   tally              5 min, 30 min, 1 h, 6 h, 1 day (tally.so/help/webhooks)
#   webflow            3 times, 10 min apart;  framer: up to 5 times, without times;  shopify: 8 times in 4 h
#   calendly           24 h (developer.calendly.com, "Webhook errors")
#   twilio             only where the address asks for it, within 15 s (www.twilio.com, "Connection overrides")
#   woocommerce        never by itself; `intake pull` reads orders by the time of their last change: two months
DAYS: Final[Mapping[str, int]] = {
    "whatsapp_cloud": 7,
    "whatsapp_360dialog": 7,
    "meta_lead_ads": 90,
    "standard_webhooks": 4,
    "quote": 4,
    "typeform": 1,
    "tally": 2,
    "webflow": 1,
    "shopify": 1,
    "calendly": 1,
    "twilio": 1,
    "woocommerce": 60,
    "opnform": 0,
    "elementor": 0,
    "cf7": 0,
    "gravity_forms": 0,
    "wpforms": 0,
    "ninja_forms": 0,
    "web_snippet": 0,
}
UNKNOWN: Final = 7


def days(provider: str) -> int:
    """The shortest time, in days, for which identities of this provider may be kept."""
    return max(OURS, DAYS.get(provider, UNKNOWN))
