"""Rows for wger: its own units and muscles, our exercises and foods, a member's year."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management import call_command
from rest_framework.authtoken.models import Token
from wger.core.models import Language, License
from wger.exercises.models import Equipment, Exercise, ExerciseCategory, Muscle, Translation
from wger.manager.models import Day, Routine, Slot, SlotEntry, WorkoutLog, WorkoutSession
from wger.measurements.models import Category, Measurement
from wger.nutrition.models import Ingredient, LogItem, Meal, MealItem, NutritionPlan
from wger.weight.models import WeightEntry

FIXTURES = ("languages", "licenses", "setting_repetition_units", "setting_weight_units")
FIXTURES += ("categories", "equipment", "muscles")
FIRST = datetime(2026, 1, 5, 7, tzinfo=UTC)
# Name, category, main muscles, equipment.
EXERCISES = [
    ("Bench press", "Chest", ["Pectoralis major"], "Barbell"),
    ("Back squat", "Legs", ["Quadriceps femoris"], "Barbell"),
    ("Deadlift", "Back", ["Erector spinae"], "Barbell"),
    ("Pull-up", "Back", ["Latissimus dorsi"], "Pull-up bar"),
    ("Dumbbell curl", "Arms", ["Biceps brachii"], "Dumbbell"),
    ("Kettlebell swing", "Legs", ["Gluteus maximus"], "Kettlebell"),
    ("Plank", "Abs", ["Rectus abdominis"], "Gym mat"),
    ("Calf raise", "Calves", ["Gastrocnemius"], "Dumbbell"),
]
# Name, energy in kcal, protein, carbohydrates, fat, in grams per 100 g.
FOODS = [
    ("Rolled oats", 372, 13, 59, 7),
    ("Chicken breast", 106, 24, 0, 1),
    ("Skyr", 63, 11, 4, 0),
    ("Banana", 93, 1, 20, 0),
    ("Red lentils", 340, 24, 50, 2),
    ("Olive oil", 828, 0, 0, 92),
    ("Brown rice", 350, 8, 73, 3),
    ("Peanut butter", 620, 26, 12, 50),
]


def seed(username: str) -> None:
    for name in FIXTURES:
        call_command("loaddata", f"{name}.json", verbosity=0)
    user = User.objects.create_user(username, "mila@gym.example")
    Token.objects.create(user=user)
    exercises = [make_exercise(*row) for row in EXERCISES]
    foods = [make_food(number, *row) for number, row in enumerate(FOODS)]
    for number in range(45):
        weight = Decimal("78.0") - Decimal("0.1") * number
        WeightEntry.objects.create(
            user=user, date=FIRST + timedelta(days=7 * number), weight=weight
        )
    measured = (("Waist", "cm", 84), ("Biceps", "cm", 31), ("Sleep", "h", 7))
    for key, (name, unit, start) in enumerate(measured, 1):
        category = Category.objects.create(id=UUID(int=key), user=user, name=name, unit=unit)
        for number in range(12):
            moment = FIRST + timedelta(days=30 * number)
            Measurement.objects.create(category=category, date=moment, value=start + number % 3)
    seed_training(user, exercises)
    seed_meals(user, foods)


def make_exercise(name: str, category: str, muscles: list[str], equipment: str) -> Exercise:
    license = License.objects.order_by("pk").first()
    found = ExerciseCategory.objects.get(name=category)
    exercise = Exercise.objects.create(category=found, license=license)
    exercise.muscles.set(Muscle.objects.filter(name__in=muscles))
    exercise.equipment.set(Equipment.objects.filter(name=equipment))
    words = f"How to do the {name.lower()}: slowly, with a straight back, and breathing out."
    Translation.objects.create(
        exercise=exercise,
        name=name,
        description=words,
        description_source=words,
        language=Language.objects.get(short_name="en"),
        license=license,
    )
    return exercise


def make_food(number: int, name: str, energy: int, protein: int, carbs: int, fat: int):
    return Ingredient.objects.create(
        name=name,
        energy=energy,
        protein=protein,
        carbohydrates=carbs,
        fat=fat,
        code=f"40000000000{number:02}",
        language=Language.objects.get(short_name="en"),
        license=License.objects.order_by("pk").first(),
        is_vegan=name not in ("Chicken breast", "Skyr"),
        is_vegetarian=name != "Chicken breast",
        nutriscore="a" if fat < 10 else "c",
    )


def seed_training(user: User, exercises: list[Exercise]) -> None:
    routine = Routine.objects.create(
        user=user, name="Full body", start=date(2026, 1, 5), end=date(2026, 4, 5)
    )
    Routine.objects.create(user=user, name="Deload", start=date(2026, 4, 6), end=date(2026, 4, 19))
    for order, name in enumerate(("Heavy", "Light"), 1):
        day = Day.objects.create(routine=routine, order=order, name=name)
        for place, exercise in enumerate(exercises[order - 1 :: 2], 1):
            slot = Slot.objects.create(day=day, order=place)
            SlotEntry.objects.create(slot=slot, exercise=exercise, order=1)
    for number in range(20):
        moment = FIRST + timedelta(days=3 * number)
        session = WorkoutSession.objects.create(
            user=user,
            routine=routine,
            date=moment.date(),
            impression=str(1 + number % 3),
            notes="Slept badly." if number == 7 else "",
            time_start=time(18),
            time_end=time(19, 10),
        )
        for exercise in exercises[:3]:
            WorkoutLog.objects.create(
                user=user,
                routine=routine,
                session=session,
                exercise=exercise,
                date=moment,
                repetitions=5,
                weight=60 + number,
            )


def seed_meals(user: User, foods: list[Ingredient]) -> None:
    plan = NutritionPlan.objects.create(
        id=UUID(int=1),
        user=user,
        description="Summer",
        start=date(2026, 5, 1),
        goal_energy=2200,
        goal_protein=140,
    )
    for name, hour, chosen in (("Breakfast", 7, foods[:3]), ("Dinner", 19, foods[4:7])):
        key = UUID(int=hour)
        meal = Meal.objects.create(id=key, plan=plan, name=name, time=time(hour), order=hour)
        for food in chosen:
            MealItem.objects.create(meal=meal, ingredient=food, amount=80, order=1)
    for number in range(15):
        moment = datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(days=number)
        LogItem.objects.create(
            plan=plan, ingredient=foods[number % 8], amount=100 + number, datetime=moment
        )
