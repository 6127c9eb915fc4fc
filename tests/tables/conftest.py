import pytest
from tables.user_files import ROWS


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "desk.csv"
    body = "".join('"{}",{}\n'.format(text.replace('"', '""'), label) for text, label in ROWS)
    path.write_text("text,label\n" + body)
    return path
