"""What the reader of answers knows beside the table of countries: shared names, and words that mean no country.

Names, people and parts of each place are in `collection/vocabularies/country_table.py`.
"""

# Names that several countries share, today or formerly: any of them may be meant.
SHARED = """\
KOR PRK | Korea; Korean; Korean Peninsula; Corea; Corée; Joseon
COG COD | Congo; Congolese; The Congo; Kongo
CZE SVK | Czechoslovakia; Czechoslovak
SRB HRV BIH SVN MKD MNE XKX | Yugoslavia; Yugoslav; Former Yugoslavia
RUS UKR BLR KAZ UZB TKM KGZ TJK GEO ARM AZE MDA LTU LVA EST | Soviet Union; USSR; Soviet; U.S.S.R.
VGB VIR | Virgin Islands
DOM DMA | Dominican
IND PAK | Punjab; Punjabi; British Raj
IND BGD | Bengal; Bengali
IDN MYS SGP BRN | Malay; Malay Archipelago
IDN MYS BRN | Borneo
GIN GNB GNQ | Guineas
VNM LAO KHM | Indochina; French Indochina
SEN GMB | Senegambia
RWA BDI | Ruanda-Urundi
NLD BEL LUX | Low Countries; Benelux
ZMB ZWE MWI | Federation of Rhodesia and Nyasaland
MYS SGP | Straits Settlements
"""
# Words that hold the name of a country, or of a larger region, and mean none.
NO_COUNTRY = """\
Africa; West Africa; East Africa; North Africa; Southern Africa; Central Africa; Asia; Southeast Asia; South East
Asia; South Asia; East Asia; Central Asia; Europe; Eastern Europe; Western Europe; North America; South America; Latin
America; Central America; Latin American; South American; North American; Central American; Native American; African
American; African-American; Middle East; Middle Eastern; Middle Eastern countries; Caribbean; Oceania; Pacific
Islands; Polynesia; Mediterranean; Balkans; Scandinavia; Levant; West African; East African; North African; African;
Asian; European; Maghreb; Sahel; Horn of Africa; Indian Ocean; Gulf of Guinea; Guinea corn; Guinea fowl; Guinea
pepper; Guinea pig; Guinea hen; Brazil nut; Brazil nuts; Turkey meat; Turkey breast; Chile pepper; Chile peppers;
Irish potato; Irish potatoes; Irish moss; Indian corn; French fries; French fry; French beans; French toast; English
muffin; English peas; English breakfast; Scotch bonnet; Swiss chard; Swiss cheese; Greek yogurt; Dutch oven; Italian
seasoning; Spanish onion; Chinese cabbage; Chinese five spice; Persian lime; New Guinea; East Indies; West Indies;
English language; English name; in English; English word; French word; French language; English translation; in
French; in Spanish; in Arabic; Arabian Peninsula; British Isles; Roman Empire; Africana; South Pacific; Germanic;
Turkic; Georgia, USA; Georgia state
"""
# Written in capitals only: in small letters these are other words.
CAPITAL_WORDS = """\
BVI CAR CNMI DPRK DRC EEUU FSM FYROM GB GDR HK KSA NZ PNG PRC RDC ROK RSA SADR SVG TCI TRNC UAE UK US USA USSR USVI
"""
CAPITALS = frozenset(CAPITAL_WORDS.split())
