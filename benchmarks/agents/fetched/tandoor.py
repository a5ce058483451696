"""Rows for Tandoor: a household's foods, recipes, meal plan and shopping list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cookbook.models import (
    CookLog,
    Food,
    Household,
    Ingredient,
    InventoryEntry,
    InventoryLocation,
    Keyword,
    MealPlan,
    MealType,
    Recipe,
    RecipeBook,
    RecipeBookEntry,
    ShoppingListEntry,
    Space,
    Step,
    Supermarket,
    SupermarketCategory,
    Unit,
    UserSpace,
)
from django.contrib.auth.models import Group, User
from django_scopes import scopes_disabled
from oauth2_provider.models import AccessToken

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
TOKEN = "token-of-the-judge"
FOODS = ["Flour", "Egg", "Milk", "Butter", "Tomato", "Onion", "Garlic", "Lentil", "Rice", "Lemon"]
UNITS = ["g", "ml", "piece", "tablespoon", "teaspoon"]
KEYWORDS = ["vegetarian", "quick", "dessert", "soup", "breakfast"]
# Name, foods, keywords, minutes of work, minutes of waiting.
RECIPES = [
    ("Pancakes", [0, 1, 2], [0, 1, 4], 20, 0),
    ("Tomato soup", [4, 5, 6], [0, 3], 15, 25),
    ("Lentil dal", [7, 5, 6], [0], 15, 30),
    ("Lemon tart", [0, 1, 3, 9], [0, 2], 40, 60),
    ("Omelette", [1, 3], [0, 1, 4], 10, 0),
    ("Fried rice", [8, 1, 5], [1], 20, 0),
    ("Onion soup", [5, 3], [3], 25, 45),
    ("Shortbread", [0, 3], [0, 2], 20, 35),
]


def seed(username: str) -> None:
    with scopes_disabled():
        user = User.objects.create_user(username, "mila@kitchen.example")
        space = Space.objects.create(name="Home", created_by=user)
        household = Household.objects.create(name="Home", space=space)
        member = UserSpace.objects.create(user=user, space=space, household=household, active=True)
        member.groups.add(Group.objects.get(name="admin"))
        AccessToken.objects.create(
            user=user, token=TOKEN, scope="read write", expires=NOW + timedelta(days=36500)
        )
        Kitchen(user, space, household).fill()


class Kitchen:
    """Makes the rows of one household."""

    def __init__(self, user: User, space: Space, household: Household) -> None:
        self.household = household
        self.shared = {"space": space}
        self.owned = {"space": space, "created_by": user}

    def fill(self) -> None:
        produce = SupermarketCategory.objects.create(name="Produce", **self.shared)
        SupermarketCategory.objects.create(name="Dairy", **self.shared)
        Supermarket.objects.create(name="Corner shop", **self.shared)
        self.foods = [self.make_food(name) for name in FOODS]
        for food in self.foods[4:7]:
            food.supermarket_category = produce
            food.save()
        self.units = [Unit.objects.create(name=name, **self.shared) for name in UNITS]
        self.keywords = [Keyword.add_root(name=name, **self.shared) for name in KEYWORDS]
        recipes = [self.make_recipe(*row) for row in RECIPES]
        book = RecipeBook.objects.create(name="Weekdays", **self.owned)
        for recipe in recipes[:3]:
            RecipeBookEntry.objects.create(book=book, recipe=recipe)
        types = [MealType.objects.create(name=name, **self.owned) for name in ("Lunch", "Dinner")]
        for number in range(14):
            moment = NOW + timedelta(days=number)
            MealPlan.objects.create(
                recipe=recipes[number % 8],
                meal_type=types[number % 2],
                servings=2,
                from_date=moment,
                to_date=moment,
                **self.owned,
            )
            CookLog.objects.create(
                recipe=recipes[number % 5], rating=1 + number % 5, servings=2, **self.owned
            )
        for number, food in enumerate(self.foods):
            ShoppingListEntry.objects.create(
                food=food, unit=self.units[0], amount=100, checked=number > 6, **self.owned
            )
        place = InventoryLocation.objects.create(
            name="Pantry", household=self.household, **self.owned
        )
        for food in self.foods[:4]:
            InventoryEntry.objects.create(
                inventory_location=place, food=food, unit=self.units[0], amount=500, **self.owned
            )

    def make_food(self, name: str) -> Food:
        food: Food = Food.add_root(name=name, **self.shared)
        return food

    def make_recipe(
        self, name: str, foods: list[int], keywords: list[int], working: int, waiting: int
    ) -> Recipe:
        recipe = Recipe.objects.create(
            name=name,
            description=f"{name}, as at home.",
            servings=4,
            working_time=working,
            waiting_time=waiting,
            internal=True,
            **self.owned,
        )
        step = Step.objects.create(instruction="Mix, and cook until done.", **self.shared)
        for number in foods:
            step.ingredients.add(
                Ingredient.objects.create(
                    food=self.foods[number], unit=self.units[0], amount=100, **self.shared
                )
            )
        recipe.steps.add(step)
        recipe.keywords.add(*(self.keywords[number] for number in keywords))
        return recipe
