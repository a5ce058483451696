"""The names and texts of which ``manage.py seed`` makes the shop."""

from __future__ import annotations

FIRST_NAMES = [
    "Amara", "Björn", "Chiara", "Daniel", "Elif", "Farid", "Grace", "Hugo", "Ingrid", "Jonas",
    "Katja", "Liam", "Mei", "Nora", "Omar", "Paula", "Quentin", "Rosa", "Sven", "Tilda",
]  # fmt: skip

LAST_NAMES = [
    "Adler", "Becker", "Costa", "Dubois", "Eriksen", "Fischer", "García", "Haas", "Ivanov",
    "Jansen", "Kowalski", "Lindgren", "Moreau", "Novak", "Okafor", "Petit", "Rossi", "Santos",
    "Tanaka", "Weber",
]  # fmt: skip

COUNTRIES = ["AT", "CH", "DE", "ES", "FR", "IT", "NL", "PL", "SE"]

# What one euro is worth.
EXCHANGE_RATES = {"CHF": "0.9420", "GBP": "0.8710", "SEK": "11.0800", "USD": "1.1630"}

# Category: its products with their prices.
PRODUCTS = {
    "kitchen": [
        ("Cast Iron Pan", "39.90"),
        ("Bread Knife", "24.50"),
        ("Enamel Teapot", "32.00"),
        ("Oak Cutting Board", "45.00"),
        ("Pepper Mill", "28.90"),
        ("Copper Saucepan", "89.00"),
        ("Mixing Bowl", "18.75"),
        ("Kitchen Scale", "34.20"),
    ],
    "garden": [
        ("Pruning Shears", "29.90"),
        ("Watering Can", "22.00"),
        ("Bird Feeder", "19.50"),
        ("Hand Trowel", "12.90"),
        ("Herb Planter", "27.40"),
        ("Leaf Rake", "21.00"),
        ("Garden Hose", "48.00"),
        ("Seed Box", "15.60"),
    ],
    "books": [
        ("A Year of Soups", "26.00"),
        ("The Small Orchard", "31.50"),
        ("Letters from the Coast", "14.90"),
        ("Knots and Hitches", "17.20"),
        ("Walks in the Hills", "19.80"),
        ("The Patient Baker", "29.00"),
        ("Star Maps for Beginners", "22.40"),
        ("A Short History of Paper", "18.00"),
    ],
    "games": [
        ("Travel Chess Set", "33.00"),
        ("Harbour Traders", "42.90"),
        ("Marble Run", "55.00"),
        ("Domino Box", "16.50"),
        ("Forest Memory", "13.90"),
        ("Wooden Puzzle", "23.00"),
        ("Card Deck", "7.50"),
        ("Night Train", "37.80"),
    ],
    "office": [
        ("Fountain Pen", "49.00"),
        ("Linen Notebook", "16.90"),
        ("Desk Lamp", "74.00"),
        ("Letter Tray", "25.30"),
        ("Pencil Set", "11.80"),
        ("Wall Calendar", "14.00"),
        ("Desk Organiser", "36.60"),
        ("Paper Trimmer", "58.00"),
    ],
}

DESCRIPTIONS = {
    "kitchen": [
        "Made for daily use on every kind of stove and table, and heavy enough to stay put.",
        "It grows better with the years: wash it by hand, dry it at once and oil what is wood "
        "or iron now and then. Nothing here is coated, so nothing can peel.",
        "The maker is a family workshop that has done little else for three generations. Each "
        "piece carries a stamp with the year, and spare parts are kept for twenty years.",
    ],
    "garden": [
        "Built to be left out in the rain by mistake and to work the next morning all the same.",
        "Handles are ash from managed forests, metal parts are forged and can be sharpened at "
        "home. Clean off the soil before winter and hang it up dry.",
        "Tried for two seasons on heavy clay and on sand by the people of a community garden, "
        "who sent back the first version and were right.",
    ],
    "books": [
        "Thread-sewn, so that it stays open on the table by itself, and printed on matt paper.",
        "The author writes as one who has done the thing for decades: plainly, with the "
        "mistakes left in and the reasons given. Drawings stand beside the text they belong to.",
        "Second, revised edition. An index of thirty pages makes it as useful to look things up "
        "in as it is pleasant to read in one go.",
    ],
    "games": [
        "For two to four players from the age of eight; the rules are told in five minutes.",
        "All parts are beech and card, without plastic bags, and lost ones are replaced free of "
        "charge. A round takes about forty minutes, less with practice.",
        "Played through in three schools before it was printed. The variant for one player was "
        "thought of by a pupil and is named after her.",
    ],
    "office": [
        "Looks well on a desk, and does its one task without asking for attention.",
        "Metal is brushed, wood is waxed and paper is free of acid, so that what is written on "
        "it lasts. It can be taken apart with a single screwdriver.",
        "Packed flat in a box that serves as a drawer. Refills and spare parts have had the "
        "same measures since the first series and will keep them.",
    ],
}

TAGS = ["bestseller", "fair trade", "gift", "handmade", "new", "recycled"]

ORDER_NOTES = [
    "", "", "", "Please ring twice.", "A present: no invoice in the parcel.",
    "Leave it with the neighbours on the ground floor.", "Deliver after the 15th.",
]  # fmt: skip

# Subject and body of tickets; {product} is filled in.
TICKETS = [
    ("Parcel has not arrived", "The {product} was announced for last week. Where is it?"),
    ("{product} arrived damaged", "The box was open and the {product} is scratched."),
    ("Wrong article", "I ordered the {product} and got something else."),
    ("Invoice needed", "Please send an invoice for the {product} to our accounts department."),
    ("When is it back in stock?", "I would like two more of the {product}."),
    ("How do I clean it?", "The {product} came without instructions."),
    ("Change of address", "We have moved. Please send the {product} to the new address."),
    ("Thank you", "The {product} is just what we hoped for."),
]
