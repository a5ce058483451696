from __future__ import annotations

import re

from drf_mcp.features import Feature, Kind, ListOf, MappingOf, MembersOf, Setting

# Whoever changes keys on their way could sign in as anyone.
SECURE = re.compile(r"https://\S+|http://(127\.0\.0\.1|localhost)[:/]\S*")
# Signatures with a public key.
ALGORITHM = re.compile(r"(RS|PS|ES)(256|384|512)|EdDSA")
PROVIDER = MembersOf(
    "",
    {
        "jwks_url": Kind("", lambda value: bool(SECURE.fullmatch(str(value)))),
        "algorithms": ListOf(Kind("", lambda value: bool(ALGORITHM.fullmatch(str(value))))),
    },
    "jwks_url",
)


class OAuthFeature(Feature):
    settings = {
        # Identity providers of companies whose assertions let people in at your own OAuth server,
        # by issuer: each has `jwks_url`, and `algorithms` if not RS256 and ES256. See
        # docs/sign_in_own.md. For companies that decide by themselves which agents their people
        # connect.
        "IDENTITY_PROVIDERS": Setting(
            {},
            MappingOf(
                PROVIDER,
                "a dict from issuers to dicts with jwks_url (an https URL), and if need be "
                "algorithms (['ES256'])",
                name=r"https?://\S+",
            ),
        ),
    }
    page_parts = ("drf_mcp.contrib.oauth.views.ConnectionsPart",)
    expires = {"used_assertions": "drf_mcp.contrib.oauth.models.delete_used_assertions"}
