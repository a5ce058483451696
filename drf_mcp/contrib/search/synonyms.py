"""The kept list of words of everyday life and of offices that mean nearly the same.

A line is a group; underscores join the words of a phrase, and words before a ">" mean those after
it, not the other way round. A word may be in several groups. Names of one project's own things do
not belong here: a project gives them as the ``keywords`` of its tools.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ENGLISH = """
buy purchase procure order
reorder replenish restock order
catalogue catalog range assortment product item
truck lorry delivery arrival receive
keep store located location
hire rent lease
salary wage pay payroll income
budget expense spending cost
loan credit debt
bank account iban
signature sign approve
holiday vacation leave absence
sick ill absence
hour time duration minute
entry record row log
link url website homepage
password login access credential
role permission right access
setting option preference configuration
alert alarm notification reminder notify remind
note memo comment
newsletter campaign mailing
lead prospect opportunity deal
offer quote quotation estimate proposal
draft unpublished
version revision release
folder directory
backup copy snapshot
error failure fault bug
test check inspection quality
cancel remove
exit leave end
city town place
country nation state
street address
age birthday birth
parent mother father guardian
child kid baby
trip journey travel ride
flight plane
hotel accommodation lodging
menu dish meal
table seat
song track music
film movie video
picture image photo illustration
news post article
forum thread discussion
vote poll survey ballot
game match fixture
score point result
prize award
gift present
size length width height dimension
colour color shade
weight mass kilogram
speed pace
customer client buyer purchaser guest requester contact patron
user account member person people participant
staff employee worker agent colleague personnel technician operator
doctor physician practitioner therapist specialist
author writer creator
supplier vendor seller distributor manufacturer
carrier courier driver
team group department crew
manager boss supervisor owner
company firm organization organisation business
guest visitor attendee audience participant attendance inside
student pupil learner
teacher tutor lecturer trainer instructor
holder owner name
product article item goods merchandise piece
order purchase booking sale
booking book
booking reservation appointment reserve
hold reserve reservation
appointment visit meeting consultation session
invoice bill charge
ticket request case issue incident problem complaint enquiry
comment note remark reply answer response message conversation discussion discuss
document file paper
attachment file upload picture image photo screenshot cover
mail email letter message
tag label keyword
category kind type class genre
place location site address position spot
shelf bin rack location aisle storage
warehouse store depot
branch office store shop
hall room venue stage theatre
seat place chair
event show concert performance gig
parcel package shipment delivery box
delivery shipment receipt order
discount voucher coupon promotion promo rebate
code barcode coupon
price cost rate fee amount
worth value valuation price
money amount sum payment refund
revenue sales income turnover earnings takings figure
fine penalty fee
contract agreement
task job todo assignment chore
report statistic figure summary overview total
rating review score feedback satisfaction opinion
article page guide instruction manual documentation knowledge help
template canned ready_made snippet macro
policy rule sla agreement
queue waiting_list wait hold
medicine drug medication pill tablet prescription prescribe
laboratory lab test sample
vaccination vaccine jab shot immunisation
allergy allergic intolerance
illness disease diagnosis condition
measurement measure weight pressure temperature
calendar schedule roster shift
shift work duty
slot opening free availability
batch lot
inventory stock stocktaking
stock quantity left have
quantity amount number count
recipe dish meal
ingredient food
vehicle car truck van
device machine equipment asset
birthday birth born
phone telephone call
home house address
moved_house address
subscription membership plan
weekday day date
exercise workout training
late overdue due delayed past behind
deadline due overdue
free available left remaining vacant availability
capacity fit size people
open unpaid outstanding unresolved pending
paid pay payment settle
unhappy dissatisfied bad angry
happy satisfied good
broken damaged defective faulty
lost missing
urgent priority critical urgency important
quick fast minute hour
internal private hidden
done closed complete solved resolved finished
blocked locked disabled suspended
expire expiry expiration outdated valid
sold_out out_of_stock
out_of_stock in_stock stock
smallest minimum least lowest
biggest maximum most highest
new recent latest newest
nobody unassigned assignee
someone assignee person
cancel call_off revoke withdraw abort drop_out not_come take_back
cancel ill off
refund money_back reimburse give_back
give_back return bring_back send_back hand_back come_back
lend borrow loan check_out take_out
return back
assign hand_over delegate allocate pick_up give_to
merge join combine unite
resolve solve finish done complete close fix
close finish complete end
reopen open_again open_once_more once_more
escalate raise level
publish put_online release go_live put_on_sale start_selling online
hide unpublish take_down
send dispatch ship deliver leave send_out
resend send_again once_more again
check_in let_in admit arrive arrived scan door here
renew extend prolong again
repeat again copy duplicate clone reorder
transfer move relocate bring shift
transfer different rename
receive book_in arrive come_in
refer send_to referral
approve accept confirm allow
reject refuse decline deny
restore undo recover
block lock suspend ban freeze quarantine
unblock unlock allow
stop end discontinue take_off quit
reschedule postpone move
start begin launch
record log register enter note
count tally inventory
write_off scrap break throw_away
low reorder buy again soon
history log audit trail changed
move movement take_out
collect pick
track tracking where status
search look_up find
print pdf
export download csv
import upload
charge invoice bill
join subscribe
share invite
duty work
how_many count number quantity statistic total
how_much amount price total cost sum value
where location place
who name person user
how_long duration minute
when > date time start
today tomorrow week month year > date day
monday tuesday wednesday thursday friday saturday sunday weekend > date start day
january february march april june july august september october november december > date
now current status
next upcoming
last previous recent
letter contract receipt certificate form paper sheet page scan document
scan upload import read_in take_in
trash bin rubbish waste recycle deleted thrown_away threw_away
sender recipient writer correspondent
folder directory path
automation automatic rule workflow trigger by_itself
crash break broke log
turn rotate upside_down sideways
put_together combine merge
divide split separate
save keep remember store
bookmark favourite favorite save remember
dashboard view search
public share link
mailbox inbox mail account
fetch collect get process check
ongoing still running active progress
process handle running active
switch_off turn_off disable deactivate enabled active
switch_on turn_on enable activate enabled active
sort file classify category type
sheet number serial
computer download save
jot write note
eat ate drink feed food meal
nappy diaper
stopwatch timer clock
sleep nap rest bed wake awake asleep
fever temperature degree
tall height high
heavy weight kilo kilogram pound
belly tummy stomach
baby child infant son daughter
dose dosage medicine medication drop tablet
hire employ recruit applicant candidate application
dismiss fire terminate leave
course class lesson lecture subject
exam test quiz assessment grade mark
homework exercise task assignment
absent absence attendance present
semester term year
transfer payment transaction booking
balance account amount left
tax vat
owe unpaid outstanding debt balance
currency exchange
flat apartment unit property house
tenant renter resident
landlord owner
repair maintenance service fix
goal target milestone
project campaign
server host machine computer
outage down incident
deploy release publish
follow subscribe watch
insurance policy cover
licence license certificate permit
passport id identity document
spare_part part component
tool equipment device
fuel petrol gas
mileage distance kilometre kilometer mile
route path way trip
map location position coordinate
"""

# Code is mostly English: each group has its words, too.
GERMAN = """
kunde klient käufer auftraggeber besteller customer client
benutzer nutzer konto mitglied person user account member
mitarbeiter angestellter kollege personal bearbeiter employee agent staff
arzt ärztin behandler doctor practitioner
lieferant händler verkäufer hersteller supplier vendor
artikel produkt ware gegenstand product item article
bestellung auftrag order kauf purchase
buchung reservierung booking reservation
termin appointment meeting
rechnung faktura invoice bill
ticket anfrage fall vorgang problem beschwerde request case
kommentar notiz bemerkung antwort nachricht comment note message
dokument datei anhang document file attachment
bild foto image photo cover
ort lagerplatz standort adresse location place address
lager bestand vorrat stock inventory warehouse
paket sendung lieferung parcel shipment delivery
gutschein rabatt voucher discount coupon
preis kosten betrag gebühr price cost amount fee
umsatz einnahme erlös revenue sale
bericht statistik übersicht auswertung report statistic summary
veranstaltung konzert vorstellung event
platz sitz seat
gruppe abteilung mannschaft group team
spät überfällig verspätet fällig late overdue due
frei verfügbar übrig free available
offen unbezahlt ausstehend open unpaid
bezahlt zahlen zahlung paid payment
stornieren absagen abbestellen cancel
erstatten zurückzahlen rückerstattung refund
zuweisen übergeben zuordnen assign
zurückgeben rückgabe return
ausleihen verleihen leihen loan lend borrow
sperren blockieren block
versenden verschicken send ship
wieviel anzahl menge count number quantity
wann > datum zeit date time
wo ort where location
heute morgen woche monat jahr > datum tag date day
"""

GROUPS: Mapping[str, str] = {"en": ENGLISH, "de": GERMAN}

# What a verb asks for, by the actions of viewsets; "read" for each that only reads.
ASKING: Mapping[str, str] = {
    "read": (
        "what which who whose whom when where how why is are do does did has have was were can "
        "show list find look_up get see read tell search give_me display view check compare count "
        "was welche welcher welches wer wem wen wann wo wie warum ist sind hat haben zeige zeigen "
        "liste suche suchen finde finden lies lesen zähle gib_mir"
    ),
    "create": (
        "add create new make register enter record log note write set_up put place issue sign_up "
        "open order book buy request ask prescribe charge hire lend attach submit post answer "
        "reply start begin save keep remember jot store upload scan "
        "anlegen erstelle erstellen hinzufügen neu neue neuer neues füge lege buche bestelle "
        "eintragen schreibe"
    ),
    "partial_update": (
        "change edit update correct rename set mark raise lower increase decrease adjust replace "
        "switch move postpone fix modify extend different better "
        "ändere ändern bearbeite bearbeiten korrigiere setze aktualisiere verschiebe"
    ),
    "destroy": (
        "delete remove destroy drop erase discard clear throw_away get_rid throw_out take_out "
        "cancel call_off withdraw revoke take_back lösche löschen entferne entfernen wegwerfen"
    ),
}

# Words that say nothing about a tool; some of them ask for something all the same.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about an and any anything are as at be by can could did do does everything for from "
        "get has have he her here him his how i if in into is it its just me mr mrs ms must my "
        "need no not of on onto or our out over please s she should so some somebody someone t "
        "tell than that the their them then there these they this to too up us want was we were "
        "what when where which who whom whose why will with would you your already also another "
        "else more other still yet cant couldnt doesnt didnt dont isnt wont das dem den der des "
        "die ein eine einem einen einer für ich im in ist mit nicht oder sich sie sind und uns "
        "unser von wir zu zum zur",
    )
)
# Those that are about a field.
NAMED_BY_VERBS = frozenset({"when", "where", "wann", "wo"})
# Verbs that say what is asked for, and nothing else.
PLAIN_VERBS = frozenset(
    re.findall(
        r"\w+",
        "add change create delete display edit find list make new register remove search see show "
        "update view ändere bearbeite entferne erstelle finde lösche suche zeige",
    )
)
AGAIN = frozenset({"again", "afresh", "anew", "once"})
BEFORE_VERBS = frozenset({"and", "bitte", "can", "could", "please", "to", "und", "us", "you"})
# What follows a verb: one of them among the first words makes a command of them.
DETERMINERS = frozenset(
    re.findall(
        r"\w+",
        "a all an back both down every everything he her him his i in it my off on out our over "
        "she someone the their them these they this those two up us we your alle das dem den der "
        "die ein eine einen es ihm ihr sie",
    )
)
# What a question is about comes before them.
PREPOSITIONS = frozenset(
    re.findall(
        r"\w+",
        "about after at because before by for from in into of on onto since that to where which "
        "who whose with without als auf aus bei bis für mit nach seit über um unter von vor wegen "
        "zu",
    )
)
# What a statement begins with, a noun with a verb after it; what makes it a wish or a correction.
PRONOUNS = frozenset({"er", "he", "i", "ich", "it", "she", "sie", "someone", "they", "we", "wir"})
SUBJECTS = PRONOUNS | {"her", "his", "mr", "mrs", "my", "our", "that", "the", "their", "this"}
FINITE = frozenset({"are", "had", "has", "hat", "have", "is", "ist", "sind", "war", "was", "were"})
WISHES = frozenset({"brauche", "like", "möchte", "need", "want", "will", "would"})
CORRECTIONS = frozenset(
    re.findall(
        r"\w+",
        "but changed instead longer mistake mistyped moved new no not now typo wrong falsch jetzt "
        "nicht neu neue neuen neuer neues sondern statt",
    )
)
