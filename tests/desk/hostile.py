"""Texts and names that break pages which do not take them as text."""

HOSTILE = [
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'> \"quotes\" & 'apostrophes' </span>",
    "שלום עולם, המדפסת לא עובדת and some English",
    "打印机坏了，请帮忙。プリンターが壊れました。",
    "😡 the 👩‍💻 printer 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 again 🖨️ no toner",
    "word " * 200_000,
    "x" * 3000,
    "   \n\n\t",
    "javascript:alert(1) {{7*7}} ${7*7} %00 \u202e reversed \x00 \x07 nul",
    "lone \ud83d half",
]
HOSTILE_CLASSES = ["<b>bold</b>", "\"quoted' & class", "עברית", "😡", "a" * 150, "__proto__", "constructor"]
