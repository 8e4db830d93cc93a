"""Words about ingredients: data, version 1, written for this project. Each line of `SAME` is one ingredient."""

# ruff: noqa: E501

# Said of an ingredient without making it another one: how it is cut, how fresh it is, how much of it is taken.
DESCRIBING_WORDS = """\
a an the of some few any your other more such as to taste for garnish frying serving cooking optional or if available
fresh freshly frozen raw cooked uncooked boiled precooked ripe unripe overripe young tender mature large small medium
big little whole half halved chopped diced sliced minced grated crushed ground mashed peeled shredded shelled pitted
deseeded soaked rinsed washed drained cleaned cut cubed torn beaten melted softened roasted toasted fried grilled
smoked dried dry powdered powder flaked pureed pure plain natural organic local homemade traditional good quality
finely roughly thinly coarsely thick thin hot warm cold lukewarm boiling extra virgin unsalted salted sweetened
unsweetened boneless skinless bone-in lean fine coarse different various assorted mixed type types kind kinds variety
piece pieces slice slices stick sticks sprig sprigs clove cloves bunch bunches handful pinch dash cup cups tablespoon
tablespoons tbsp teaspoon teaspoons tsp gram grams g kg kilo kilos kilogram kilograms ml litre litres liter liters l
oz ounce ounces lb lbs pound pounds pack packet can cans canned tin tins tinned bottle glass bowl amount quantity
"""
DESCRIBING = frozenset(DESCRIBING_WORDS.split())
SAME = """\
eggplant; aubergine; brinjal; garden egg; melongene
corn; maize; mielie; mealie; sweet corn; sweetcorn
corn flour; cornflour; maize flour; maize meal; mealie meal; corn meal; cornmeal; mielie meal; pap meal
peanut; groundnut; ground nut; monkey nut
peanut butter; groundnut paste; peanut paste
peanut oil; groundnut oil
coriander; cilantro; coriander leaf; dhania; fresh coriander; coriander leave
chili; chilli; chile; chilies; chillies; chili pepper; chilli pepper; red chili; green chili; red chilli; green chilli; hot pepper; scotch bonnet; scotch bonnet pepper; habanero; cayenne; cayenne pepper; bird eye chili; pili pili; red pepper flake; chili flake; chili powder; chilli powder; pepper chili
black pepper; pepper; white pepper; peppercorn; black peppercorn; ground pepper
bell pepper; capsicum; sweet pepper; red bell pepper; green bell pepper; green pepper; red pepper; yellow pepper
onion; red onion; white onion; yellow onion; brown onion
spring onion; scallion; green onion
garlic; garlic clove
ginger; ginger root
tomato; cherry tomato; plum tomato; tomatoe
tomato paste; tomato puree; tomato concentrate
potato; irish potato; potatoe; white potato
sweet potato; yellow sweet potato; kumara; camote
cassava; manioc; yuca; tapioca root
cassava leaf; manioc leaf; saka saka; pondu
gari; garri; cassava granule
okra; lady finger; ladies finger; okro; gombo; bamia
chickpea; garbanzo; garbanzo bean; gram; chick pea
lentil; red lentil; brown lentil; green lentil; dal; daal; dhal
bean; kidney bean; red bean; brown bean; black bean; white bean
black-eyed pea; black eyed pea; black-eyed bean; black eyed bean; cowpea; cow pea; niebe
egusi; melon seed; egusi seed; ground egusi
crayfish; dried crayfish; ground crayfish
shrimp; prawn
beef; cow meat; minced beef; minced meat; beef mince; ground beef; mince
goat meat; goat; chevon
mutton; lamb; lamb meat; sheep meat; lamb leg; leg of lamb
chicken; chicken meat; chicken breast; chicken thigh; hen; chicken piece
pork; pork meat; pork belly; pork shoulder
fish; fish fillet; white fish
stockfish; stock fish; dried cod
meat; red meat
egg; chicken egg; hen egg
milk; cow milk; whole milk
cream; heavy cream; whipping cream; double cream; fresh cream
yogurt; yoghurt; curd; plain yogurt
cheese; white cheese
butter; unsalted butter; salted butter
ghee; clarified butter; smen
oil; vegetable oil; cooking oil; sunflower oil; canola oil; frying oil
olive oil; extra virgin olive oil
palm oil; red oil; red palm oil
flour; wheat flour; all-purpose flour; all purpose flour; white flour; plain flour; cake flour
semolina; fine semolina; couscous semolina; semoule
rice; white rice; long grain rice; basmati rice; cooked rice; jasmine rice
glutinous rice; sticky rice; malagkit
sugar; white sugar; granulated sugar; caster sugar; castor sugar
brown sugar; muscovado; jaggery; piloncillo; panela
powdered sugar; icing sugar; confectioner sugar; confectioners sugar
salt; sea salt; table salt; kosher salt; rock salt
soy sauce; soya sauce; shoyu
water; hot water; cold water
stock; broth
bouillon; stock cube; seasoning cube; maggi; maggi cube; knorr; bouillon cube; magi; royco; knorr cube
baking soda; bicarbonate of soda; sodium bicarbonate; bicarbonate
baking powder; royal baking powder
yeast; active yeast; instant yeast; dry yeast
cinnamon; cinamon; cinnamon stick; cinnamon powder
turmeric; tumeric; haldi
cumin; cumin seed; jeera; cumin powder
cardamom; cardamon; elachi; cardamom pod
paprika; sweet paprika
nutmeg; ground nutmeg
bay leaf; laurel leaf; laurel
parsley; parsley leaf
mint; mint leaf
basil; basil leaf
thyme; thyme leaf
curry leaf; kadi patta
curry; curry powder
curry paste; thai curry paste
vinegar; white vinegar; cane vinegar
lemon; lemon juice
lime; lime juice; calamansi; kalamansi
coconut; desiccated coconut; grated coconut; coconut flake
coconut milk; coconut cream
spinach; spinach leaf; palak
bitter leaf; bitterleaf; ndole leaf
plantain; green plantain; ripe plantain
banana; green banana
carrot; carrots
zucchini; courgette; baby marrow
beetroot; beet
pumpkin; squash; butternut; butternut squash; calabash
pumpkin leaf; ugu; ugwu; ugu leaf
collard green; collard; sukuma wiki; kale
cabbage; white cabbage
pea; green pea; garden pea
raisin; sultana; currant
date; date fruit
almond; blanched almond
sesame; sesame seed; simsim; til
orange blossom water; orange flower water
rose water; rosewater
vanilla; vanilla essence; vanilla extract; vanilla sugar
honey; bee honey
breadcrumb; bread crumb
noodle; noodles; pasta
spaghetti; spaghetti pasta
ketchup; tomato sauce; tomato ketchup
rapeseed; canola
"""
IRREGULAR = {
    "leaves": "leaf",
    "loaves": "loaf",
    "halves": "half",
    "knives": "knife",
    "calves": "calf",
    "tomatoes": "tomato",
    "potatoes": "potato",
    "mangoes": "mango",
    "molasses": "molasses",
    "hummus": "hummus",
    "couscous": "couscous",
    "asparagus": "asparagus",
    "watercress": "watercress",
    "lemongrass": "lemongrass",
    "swiss": "swiss",
    "cheese": "cheese",
    "radishes": "radish",
    "geese": "goose",
    "anchovies": "anchovy",
    "cookies": "cookie",
    "cassavas": "cassava",
    "citrus": "citrus",
    "octopus": "octopus",
    "peas": "pea",
    "spices": "spice",
}
