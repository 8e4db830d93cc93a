"""Names of countries for the reader of answers: data, version 1, written for this project.

One line per place: code | names, today's and former, in several languages | what its people and dishes are called |
parts of it that are named instead of it. Codes are those of `collection/data/countries.tsv`. Places that have no code of
their own in ISO 3166 belong to the state in `PART_OF`.
"""

# ruff: noqa: E501

NAMES = """\
AFG | Afghanistan; افغانستان; Afghanestan | Afghan; Afghani
ALA | Åland Islands; Åland; Aland
ALB | Albania; Shqipëria; Shqiperia | Albanian
DZA | Algeria; Algérie; الجزائر; Dzayer; ⵍⵣⵣⴰⵢⴻⵔ; People's Democratic Republic of Algeria | Algerian | Algiers; Kabylia; Oran; Constantine
ASM | American Samoa
AND | Andorra | Andorran
AGO | Angola | Angolan
AIA | Anguilla
ATA | Antarctica
ATG | Antigua and Barbuda; Antigua; Barbuda; Antigua & Barbuda | Antiguan; Barbudan
ARG | Argentina; República Argentina; Argentine | Argentine; Argentinian; Argentinean | Buenos Aires; Patagonia
ARM | Armenia; Հայաստան; Hayastan | Armenian
ABW | Aruba | Aruban
AUS | Australia; Commonwealth of Australia | Australian; Aussie | Tasmania; Queensland; New South Wales
AUT | Austria; Österreich; Oesterreich; Autriche; Oostenrijk | Austrian | Tyrol; Vienna; Styria; Carinthia
AZE | Azerbaijan; Azərbaycan | Azerbaijani; Azeri
BHS | Bahamas; The Bahamas | Bahamian
BHR | Bahrain; البحرين | Bahraini
BGD | Bangladesh; বাংলাদেশ; Bangla Desh | Bangladeshi
BRB | Barbados | Barbadian; Bajan
BLR | Belarus; Беларусь; Belorussia; Byelorussia; White Russia; Byelorussian SSR | Belarusian; Belarusan
BEL | Belgium; België; Belgique; Belgien | Belgian; Flemish; Walloon
BLZ | Belize; British Honduras | Belizean
BEN | Benin; Bénin; Dahomey; Kingdom of Dahomey | Beninese; Beninois
BMU | Bermuda | Bermudian
BTN | Bhutan; འབྲུག་ཡུལ | Bhutanese
BOL | Bolivia; Plurinational State of Bolivia; Buliwya; Wuliwya | Bolivian
BES | Caribbean Netherlands; Bonaire; Sint Eustatius; Bonaire Sint Eustatius and Saba
BIH | Bosnia and Herzegovina; Bosnia; Bosnia-Herzegovina; Bosna i Hercegovina; BiH; Босна и Херцеговина; Bosnia & Herzegovina; Bosnia Hercegovina | Bosnian; Herzegovinian
BWA | Botswana; Bechuanaland | Botswanan; Motswana; Batswana
BVT | Bouvet Island
BRA | Brazil; Brasil; Brésil; Brasilien | Brazilian | Bahia; Minas Gerais; Rio de Janeiro; São Paulo; Amazonas; Pernambuco
IOT | British Indian Ocean Territory; Chagos; Chagos Islands; Diego Garcia
BRN | Brunei; Brunei Darussalam; Negara Brunei Darussalam | Bruneian
BGR | Bulgaria; България | Bulgarian
BFA | Burkina Faso; Burkina; Upper Volta; Haute-Volta; Obervolta | Burkinabe; Burkinabé; Burkinese
BDI | Burundi; Uburundi | Burundian
CPV | Cabo Verde; Cape Verde; Kabu Verdi; Cap-Vert; Cape Verde Islands | Cape Verdean; Cabo Verdean
KHM | Cambodia; កម្ពុជា; Kampuchea; Cambodge | Cambodian; Khmer
CMR | Cameroon; Cameroun; Kamerun; Republic of Cameroon; Camerun | Cameroonian
CAN | Canada | Canadian | Quebec; Québec; Ontario; British Columbia; Alberta; Nova Scotia; Newfoundland; Manitoba; Saskatchewan; New Brunswick
CYM | Cayman Islands; Caymans | Caymanian
CAF | Central African Republic; République centrafricaine; Centrafrique; CAR; Ködörösêse tî Bêafrîka | Central African
TCD | Chad; Tchad; تشاد | Chadian
CHL | Chile | Chilean
CHN | China; 中国; 中國; People's Republic of China; PRC; Peoples Republic of China; Chine; Kina | Chinese | Sichuan; Guangdong; Yunnan; Hunan; Fujian; Xinjiang; Shanghai; Beijing; Guangxi; Shandong; Zhejiang; Jiangsu; Canton; Hainan
CXR | Christmas Island
CCK | Cocos (Keeling) Islands; Cocos Islands; Keeling Islands
COL | Colombia; Columbia; Colombie | Colombian
COM | Comoros; Comores; Komori; جزر القمر; Union of the Comoros | Comorian; Comoran
COG | Republic of the Congo; Congo-Brazzaville; Congo Brazzaville; République du Congo; Congo Republic; Brazzaville; French Congo; Middle Congo; Congo, Republic of the; Republic of Congo; People's Republic of the Congo
COD | Democratic Republic of the Congo; DR Congo; DRC; D.R. Congo; RDC; Congo-Kinshasa; Congo Kinshasa; Zaire; Zaïre; République démocratique du Congo; Democratic Republic of Congo; Belgian Congo; Congo Free State; Congo DR; Congo DRC; Congo, Democratic Republic of the; Democratic Republic Congo; DR of Congo; D R Congo; The Democratic Republic of the Congo; Congo - Kinshasa
COK | Cook Islands; Kūki 'Āirani
CRI | Costa Rica | Costa Rican
CIV | Côte d'Ivoire; Ivory Coast; Cote dIvoire; Côte d’Ivoire; Costa de Marfil; Elfenbeinküste; Cote d'Ivoire; Cote D Ivoire; Ivorycoast | Ivorian; Ivoirian
HRV | Croatia; Hrvatska | Croatian
CUB | Cuba | Cuban
CUW | Curaçao; Kòrsou
CYP | Cyprus; Κύπρος; Kıbrıs | Cypriot
CZE | Czechia; Czech Republic; Česko; Česká republika; Bohemia; Moravia | Czech
DNK | Denmark; Danmark; Danemark | Danish; Dane
DJI | Djibouti; جيبوتي; Jabuuti; French Somaliland | Djiboutian
DMA | Dominica
DOM | Dominican Republic; República Dominicana; DomRep
ECU | Ecuador | Ecuadorian; Ecuadorean
EGY | Egypt; مصر; Misr; Masr; Égypte; Arab Republic of Egypt; United Arab Republic; Egipto; Egitto; Ägypten | Egyptian
SLV | El Salvador; Salvador | Salvadoran; Salvadorean
GNQ | Equatorial Guinea; Guinea Ecuatorial; Guinée équatoriale | Equatorial Guinean; Equatoguinean
ERI | Eritrea; ኤርትራ; Erythrée | Eritrean
EST | Estonia; Eesti | Estonian
SWZ | Eswatini; Swaziland; eSwatini; Kingdom of Eswatini | Swazi; Liswati
ETH | Ethiopia; ኢትዮጵያ; Ityopya; Itoophiyaa; Abyssinia; Abyssinian Empire; Éthiopie; Etiopía | Ethiopian
FLK | Falkland Islands; Falklands; Malvinas; Islas Malvinas
FRO | Faroe Islands; Føroyar; Faroes; Faeroe Islands
FJI | Fiji; Fiji Islands | Fijian
FIN | Finland; Suomi | Finnish; Finn
FRA | France; République française; Frankreich; Francia; Frankrijk; França | French | Provence; Brittany; Normandy; Alsace; Burgundy; Gascony; Lyon; Paris; Savoy; Auvergne
GUF | French Guiana; Guyane; Guyane française | French Guianese
PYF | French Polynesia; Tahiti; Polynésie française; Pōrīnetia Farāni | Tahitian; French Polynesian
ATF | French Southern Territories; French Southern and Antarctic Lands
GAB | Gabon | Gabonese
GMB | Gambia; The Gambia | Gambian
GEO | Georgia; საქართველო; Sakartvelo; Republic of Georgia | Georgian
DEU | Germany; Deutschland; Allemagne; Alemania; Federal Republic of Germany; West Germany; East Germany; Germany (Deutschland); Prussia; GDR; German Democratic Republic; Germania; Duitsland | German | Bavaria; Swabia; Saxony; Franconia; Berlin; Hesse; Rhineland; Westphalia
GHA | Ghana; Gold Coast; Gaana; Ashanti Empire | Ghanaian; Ghanian | Accra; Kumasi
GIB | Gibraltar
GRC | Greece; Ελλάδα; Hellas; Ellada; Hellenic Republic; Grèce; Grecia; Griechenland | Greek; Hellenic | Crete
GRL | Greenland; Kalaallit Nunaat; Grønland | Greenlandic
GRD | Grenada | Grenadian
GLP | Guadeloupe; Gwadloup | Guadeloupean
GUM | Guam; Guåhan | Guamanian; Chamorro
GTM | Guatemala | Guatemalan
GGY | Guernsey
GIN | Guinea; Guinée; Guinea-Conakry; Guinea Conakry; Guinée Conakry | Guinean
GNB | Guinea-Bissau; Guiné-Bissau; Guinée-Bissau | Bissau-Guinean; Guinea-Bissauan
GUY | Guyana; British Guiana | Guyanese
HTI | Haiti; Haïti; Ayiti | Haitian
HMD | Heard Island and McDonald Islands
VAT | Vatican City; Holy See; Vatican
HND | Honduras | Honduran
HKG | Hong Kong; 香港; Hong Kong SAR; HK | Hongkonger
HUN | Hungary; Magyarország; Hongrie; Hungría; Ungarn | Hungarian; Magyar
ISL | Iceland; Ísland | Icelandic
IND | India; भारत; Bharat; Hindustan; இந்தியா; ভারত; Inde; भारतवर्ष; British India; Republic of India; Indien | Indian | Kerala; Tamil Nadu; Goa; Gujarat; Maharashtra; Rajasthan; West Bengal; Karnataka; Andhra Pradesh; Telangana; Assam; Odisha; Bihar; Uttar Pradesh; Madhya Pradesh; Himachal Pradesh; Uttarakhand; Manipur; Nagaland; Mizoram; Meghalaya; Sikkim; Tripura; Jharkhand; Chhattisgarh; Haryana; Delhi; Mumbai; Hyderabad; South India; North India; Kolkata
IDN | Indonesia; Republik Indonesia; Dutch East Indies; Indonésie | Indonesian | Java; Sumatra; Bali; Sulawesi; Padang; Aceh; Jakarta; Lombok; Maluku
IRN | Iran; ایران; Persia; Islamic Republic of Iran; Persian Empire | Iranian; Persian
IRQ | Iraq; العراق; Irak; عێراق | Iraqi
IRL | Ireland; Éire; Republic of Ireland; Eire; Irlande; Irlanda; Irland | Irish
IMN | Isle of Man; Ellan Vannin
ISR | Israel; ישראל; إسرائيل | Israeli
ITA | Italy; Italia; Italie; Italien | Italian | Sicily; Tuscany; Sardinia; Lombardy; Piedmont; Liguria; Naples; Rome; Emilia-Romagna; Veneto; Apulia; Puglia; Calabria; Campania; Venice; Genoa
JAM | Jamaica; Jumieka | Jamaican
JPN | Japan; 日本; Nippon; Nihon; にほん; Japon; Japón; Giappone | Japanese | Okinawa; Hokkaido; Osaka; Kyoto; Tokyo; Hiroshima; Nagasaki
JEY | Jersey
JOR | Jordan; الأردن; Jordanie | Jordanian
KAZ | Kazakhstan; Қазақстан; Казахстан; Qazaqstan; Kazakstan | Kazakh; Kazakhstani
KEN | Kenya; Republic of Kenya; British East Africa; Kenia | Kenyan | Nairobi; Mombasa
KIR | Kiribati
PRK | North Korea; 조선; DPRK; Democratic People's Republic of Korea; Korea (North) | North Korean
KOR | South Korea; 대한민국; 한국; Republic of Korea; ROK; Korea (South); Hanguk; Republic of Korea (South Korea); Südkorea; Corée du Sud | South Korean
KWT | Kuwait; الكويت | Kuwaiti
KGZ | Kyrgyzstan; Кыргызстан; Kirghizia; Kyrgyz Republic; Kirgizstan | Kyrgyz; Kyrgyzstani
LAO | Laos; ລາວ; Lao PDR; Lao People's Democratic Republic | Laotian
LVA | Latvia; Latvija | Latvian
LBN | Lebanon; لبنان; Liban; Lubnan; Líbano; Libano; Libanon | Lebanese
LSO | Lesotho; Basutoland | Basotho; Mosotho; Lesothan
LBR | Liberia | Liberian
LBY | Libya; ليبيا; Libia; Libye; Tripolitania | Libyan
LIE | Liechtenstein
LTU | Lithuania; Lietuva | Lithuanian
LUX | Luxembourg; Lëtzebuerg; Luxemburg | Luxembourgish; Luxembourger
MAC | Macao; Macau; 澳門; 澳门 | Macanese
MDG | Madagascar; Madagasikara; Malagasy Republic | Malagasy; Madagascan
MWI | Malawi; Malaŵi; Nyasaland | Malawian
MYS | Malaysia; مليسيا; Malaya; 马来西亚 | Malaysian | Sarawak; Sabah; Penang; Kelantan
MDV | Maldives; ދިވެހިރާއްޖެ; Maldive Islands | Maldivian
MLI | Mali; French Sudan | Malian
MLT | Malta | Maltese
MHL | Marshall Islands; Aolepān Aorōkin Ṃajeḷ | Marshallese
MTQ | Martinique; Matinik | Martinican; Martiniquais
MRT | Mauritania; موريتانيا; Mauritanie | Mauritanian
MUS | Mauritius; Maurice; Île Maurice | Mauritian
MYT | Mayotte
MEX | Mexico; México; Mexique; Estados Unidos Mexicanos; Mexiko; Messico | Mexican | Oaxaca; Yucatan; Yucatán; Puebla; Jalisco; Veracruz; Michoacán; Sonora
FSM | Micronesia; Federated States of Micronesia; FSM | Micronesian
MDA | Moldova; Republic of Moldova; Moldavia | Moldovan; Moldavian
MCO | Monaco | Monégasque; Monacan
MNG | Mongolia; Монгол; Монгол Улс; Outer Mongolia | Mongolian
MNE | Montenegro; Crna Gora; Црна Гора | Montenegrin
MSR | Montserrat
MAR | Morocco; المغرب; Maroc; Marruecos; Al-Maghrib; ⵍⵎⵖⵔⵉⴱ; Kingdom of Morocco; Marokko; Marocco | Moroccan | Fez; Marrakech; Marrakesh
MOZ | Mozambique; Moçambique; Mocambique | Mozambican
MMR | Myanmar; Burma; မြန်မာ; Birmanie; Myanmar (Burma); Birma; Union of Myanmar; Union of Burma | Burmese; Myanma
NAM | Namibia; South West Africa; Namibië; German South West Africa | Namibian
NRU | Nauru; Naoero | Nauruan
NPL | Nepal; नेपाल | Nepali; Nepalese
NLD | Netherlands; The Netherlands; Holland; Nederland; Pays-Bas; Kingdom of the Netherlands; Países Bajos; Niederlande; Paesi Bassi | Dutch; Netherlander | North Holland; South Holland; Friesland; Amsterdam
NCL | New Caledonia; Nouvelle-Calédonie; Kanaky
NZL | New Zealand; Aotearoa; Aotearoa New Zealand; NZ | New Zealander; Kiwi cuisine | Maori cuisine
NIC | Nicaragua | Nicaraguan
NER | Niger; French Niger | Nigerien; Nigerienne
NGA | Nigeria; Naija; Nàìjíríà; Najeriya; Federal Republic of Nigeria; Nigéria | Nigerian | Lagos; Kano; Calabar; Cross River State; Akwa Ibom; Ogun State; Edo State; Delta State; Rivers State; Biafra
NIU | Niue; Niuē
NFK | Norfolk Island; Norf'k Ailen
MKD | North Macedonia; Macedonia; Северна Македонија; Македонија; FYROM | Macedonian; North Macedonian
MNP | Northern Mariana Islands; Saipan; Northern Marianas; CNMI
NOR | Norway; Norge; Noreg | Norwegian
OMN | Oman; عمان; عُمان; Sultanate of Oman | Omani
PAK | Pakistan; پاکستان | Pakistani | Sindh; Balochistan; Khyber Pakhtunkhwa; Lahore; Karachi
PLW | Palau; Belau | Palauan
PSE | Palestine; فلسطين; State of Palestine; Palestinian Territories; Falastin; Filastin; Gaza; West Bank; Occupied Palestinian Territory; Mandatory Palestine; Palestinian territory; Palestinian Authority | Palestinian
PAN | Panama; Panamá | Panamanian
PNG | Papua New Guinea; Papua Niugini; PNG | Papua New Guinean
PRY | Paraguay; Paraguái | Paraguayan
PER | Peru; Perú; Piruw | Peruvian | Lima; Cusco
PHL | Philippines; The Philippines; Pilipinas; Filipinas; Phillipines; Philipines; Philippine Islands; Republic of the Philippines; Philippinen | Filipino; Filipina; Philippine; Pilipino | Luzon; Visayas; Mindanao; Pampanga; Ilocos; Bicol; Cebu; Manila; Iloilo; Batangas
PCN | Pitcairn Islands; Pitcairn
POL | Poland; Polska; Pologne; Polonia; Polen | Polish
PRT | Portugal | Portuguese
PRI | Puerto Rico; Porto Rico; Borinquen | Puerto Rican
QAT | Qatar; قطر | Qatari
REU | Réunion; La Réunion; Reunion Island | Réunionese; Réunionnais
ROU | Romania; România; Roumania; Rumania | Romanian
RUS | Russia; Россия; Russian Federation; Российская Федерация; Rossiya; Russian SFSR; Russian Empire; Russie; Rusia; Russland; Rússia | Russian | Siberia; Dagestan; Tatarstan; Moscow
RWA | Rwanda | Rwandan; Rwandese
BLM | Saint Barthélemy; St Barts; St. Barths; St Barth
SHN | Saint Helena, Ascension and Tristan da Cunha; Saint Helena; St Helena; Ascension Island; Tristan da Cunha
KNA | Saint Kitts and Nevis; St Kitts; St Kitts and Nevis; Nevis; Saint Kitts; St Kitts & Nevis
LCA | Saint Lucia; St Lucia; St. Lucia
MAF | Saint Martin; Saint Martin (French part); St Martin; Saint-Martin
SPM | Saint Pierre and Miquelon; St Pierre and Miquelon; Saint-Pierre-et-Miquelon
VCT | Saint Vincent and the Grenadines; St Vincent; Saint Vincent; Grenadines; SVG; St Vincent and the Grenadines
WSM | Samoa; Western Samoa | Samoan
SMR | San Marino | Sammarinese
STP | São Tomé and Príncipe; Sao Tome; São Tomé e Príncipe; Sao Tome and Principe; Sao Tome & Principe; São Tomé & Príncipe | São Toméan; Santomean
SAU | Saudi Arabia; السعودية; المملكة العربية السعودية; KSA; Kingdom of Saudi Arabia; Hejaz | Saudi; Saudi Arabian
SEN | Senegal; Sénégal | Senegalese
SRB | Serbia; Србија; Srbija; Republic of Serbia | Serbian
SYC | Seychelles; Sesel | Seychellois
SLE | Sierra Leone | Sierra Leonean
SGP | Singapore; 新加坡; Singapura; சிங்கப்பூர் | Singaporean
SXM | Sint Maarten; Sint Maarten (Dutch part); St Maarten
SVK | Slovakia; Slovensko; Slovak Republic | Slovak; Slovakian
SVN | Slovenia; Slovenija | Slovenian; Slovene
SLB | Solomon Islands; Solomons | Solomon Islander
SOM | Somalia; Soomaaliya; الصومال; Italian Somaliland; British Somaliland | Somali; Somalian
ZAF | South Africa; Suid-Afrika; iNingizimu Afrika; uMzantsi Afrika; Mzansi; RSA; Afrika Borwa; Republic of South Africa; Union of South Africa; Transvaal; Orange Free State; Cape Colony; Afrique du Sud; Sudáfrica; Südafrika; Sudafrica; Zuid-Afrika; Afrika Kusini | South African | KwaZulu-Natal; Limpopo; Eastern Cape; Western Cape; Gauteng; Durban; Cape Town; Cape Malay
SGS | South Georgia and the South Sandwich Islands; South Georgia; South Sandwich Islands
SSD | South Sudan | South Sudanese
ESP | Spain; España; Espanya; Espagne; Espainia; Spanien; Spagna; Spanje | Spanish; Spaniard | Andalusia; Galicia; Valencia; Asturias; Canary Islands; Castile; Madrid; Extremadura; Majorca; Mallorca
LKA | Sri Lanka; ශ්‍රී ලංකාව; இலங்கை; Ceylon; Democratic Socialist Republic of Sri Lanka; Srilanka | Sri Lankan; Sinhalese; Ceylonese
SDN | Sudan; السودان; Soudan; North Sudan | Sudanese
SUR | Suriname; Surinam; Sranan; Dutch Guiana | Surinamese
SJM | Svalbard and Jan Mayen; Svalbard; Jan Mayen
SWE | Sweden; Sverige; Suède; Suecia; Schweden | Swedish
CHE | Switzerland; Schweiz; Suisse; Svizzera; Svizra; Swiss Confederation | Swiss | Valais; Zurich; Grisons
SYR | Syria; سوريا; سورية; Syrian Arab Republic; Syrie; Syria (Syrian Arab Republic); Siria; Syrien | Syrian | Damascus; Aleppo
TWN | Taiwan; 臺灣; 台灣; 台湾; Formosa; Chinese Taipei; Republic of China; Taiwan (Republic of China) | Taiwanese
TJK | Tajikistan; Тоҷикистон; Tadjikistan; Tadzhikistan | Tajik; Tajikistani
TZA | Tanzania; Tanganyika; United Republic of Tanzania; Tanzanie; German East Africa; Tanzanía; Tansania | Tanzanian | Dar es Salaam
THA | Thailand; ประเทศไทย; ไทย; Siam | Thai | Isan; Bangkok
TLS | Timor-Leste; East Timor; Timor Lorosa'e; Timor Leste | Timorese; East Timorese
TGO | Togo; Togoland | Togolese
TKL | Tokelau
TON | Tonga | Tongan
TTO | Trinidad and Tobago; Trinidad; Tobago; Trinidad & Tobago | Trinidadian; Trini; Tobagonian
TUN | Tunisia; تونس; Tunisie; Tunis; Túnez; Tunesien | Tunisian
TUR | Türkiye; Turkey; Turkiye; Turquie; Türkei; Republic of Turkey; Ottoman Empire; Anatolia; Turquía; Turchia | Turkish | Istanbul; Gaziantep
TKM | Turkmenistan; Türkmenistan; Turkmenia | Turkmen
TCA | Turks and Caicos Islands; Turks and Caicos; TCI
TUV | Tuvalu; Ellice Islands | Tuvaluan
UGA | Uganda | Ugandan | Kampala; Buganda
UKR | Ukraine; Україна; Ukraina; The Ukraine | Ukrainian
ARE | United Arab Emirates; UAE; الإمارات; Emirates; Abu Dhabi; الإمارات العربية المتحدة; United Arab Emirates (UAE); Trucial States | Emirati
GBR | United Kingdom; UK; U.K.; Great Britain; Britain; GB; United Kingdom (UK); Royaume-Uni; United Kingdom of Great Britain and Northern Ireland; United Kingdom of Great Britain; The UK; The United Kingdom; England and Wales; Reino Unido; Regno Unito; Vereinigtes Königreich; Großbritannien | British; Briton
USA | United States; USA; U.S.A.; US; U.S.; America; United States of America; United States of America (USA); the States; Estados Unidos; États-Unis; EEUU; Vereinigte Staaten; Stati Uniti; Verenigde Staten | American | Alabama; Alaska; Arizona; Arkansas; California; Colorado; Connecticut; Delaware; Florida; Idaho; Illinois; Indiana; Iowa; Kansas; Kentucky; Louisiana; Maine; Maryland; Massachusetts; Michigan; Minnesota; Mississippi; Missouri; Montana; Nebraska; Nevada; New Hampshire; New Jersey; New Mexico; New York; North Carolina; North Dakota; Ohio; Oklahoma; Oregon; Pennsylvania; Rhode Island; South Carolina; South Dakota; Tennessee; Texas; Utah; Vermont; Virginia; West Virginia; Wisconsin; Wyoming; New Orleans; New England; Southern United States; American South; Southern US; Cajun; Creole Louisiana; Tex-Mex
UMI | United States Minor Outlying Islands; Baker Island; Howland Island; Jarvis Island; Johnston Atoll; Kingman Reef; Midway Atoll; Navassa Island; Palmyra Atoll; Wake Island
URY | Uruguay | Uruguayan
UZB | Uzbekistan; Oʻzbekiston; O'zbekiston; Ўзбекистон; Узбекистан | Uzbek; Uzbekistani
VUT | Vanuatu; New Hebrides | Vanuatuan; Ni-Vanuatu
VEN | Venezuela; Bolivarian Republic of Venezuela | Venezuelan
VNM | Vietnam; Viet Nam; Việt Nam; South Vietnam; North Vietnam; Annam; Tonkin; Cochinchina; Socialist Republic of Vietnam | Vietnamese | Hanoi; Hue; Saigon; Ho Chi Minh City
VGB | British Virgin Islands; Virgin Islands (British); BVI
VIR | United States Virgin Islands; Virgin Islands (US); US Virgin Islands; U.S. Virgin Islands; USVI
WLF | Wallis and Futuna; Wallis-et-Futuna
ESH | Western Sahara; الصحراء الغربية; Sahrawi Republic; Sahara Occidental; SADR | Sahrawi
YEM | Yemen; اليمن; Yémen | Yemeni; Yemenite
ZMB | Zambia; Northern Rhodesia | Zambian
ZWE | Zimbabwe; Rhodesia; Southern Rhodesia; Zimbabwe Rhodesia | Zimbabwean
XKX | Kosovo; Kosova; Косово | Kosovar; Kosovan
GB-ENG | England | English | Cornwall; Yorkshire; Lancashire; Devon; London; Cumbria; Northumberland; Cornish
GB-SCT | Scotland | Scottish; Scots
GB-WLS | Wales; Cymru | Welsh
GB-NIR | Northern Ireland; Tuaisceart Éireann; Norn Iron | Northern Irish
TZ-ZAN | Zanzibar; Unguja; زنجبار | Zanzibari
ES-CT | Catalonia; Catalunya; Cataluña | Catalan; Catalonian
ES-PV | Basque Country; Euskadi; Euskal Herria; País Vasco | Basque
FR-COR | Corsica; Corse | Corsican
US-HI | Hawaii; Hawaiʻi; Hawai'i | Hawaiian
CL-IP | Easter Island; Rapa Nui; Isla de Pascua
ID-WP | West Papua; Papua Barat; West Irian
X-SOL | Somaliland; Republic of Somaliland
X-KUR | Kurdistan; کوردستان; Kurdistanê; Kurdish Region | Kurdish
X-TRN | Transnistria; Pridnestrovie; Приднестровье
X-ABK | Abkhazia; Аҧсны; Apsny
X-SOS | South Ossetia; Хуссар Ирыстон
X-NCY | Northern Cyprus; Kuzey Kıbrıs; TRNC
X-KAS | Kashmir; कश्मीर; کشمیر; Azad Kashmir; Jammu and Kashmir | Kashmiri
X-TIB | Tibet; བོད; 西藏 | Tibetan
X-CRM | Crimea; Крым; Крим; Qırım
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
CAPITAL_WORDS = "BVI CAR CNMI DPRK DRC EEUU FSM FYROM GB GDR HK KSA NZ PNG PRC RDC ROK RSA SADR SVG TCI TRNC UAE UK US USA USSR USVI"
CAPITALS = frozenset(CAPITAL_WORDS.split())
PART_OF = {
    "GB-ENG": "GBR",
    "GB-SCT": "GBR",
    "GB-WLS": "GBR",
    "GB-NIR": "GBR",
    "TZ-ZAN": "TZA",
    "ES-CT": "ESP",
    "ES-PV": "ESP",
    "FR-COR": "FRA",
    "US-HI": "USA",
    "CL-IP": "CHL",
    "ID-WP": "IDN",
}
