"""Files between Deadheat and a script: words with labels, one per line, and CoNLL-U with nothing but words."""


def read_columns(path):
    """Sentences as lists of (word, label); the label is empty where a line has the word alone."""
    sentences, current = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields != [""]:
                current.append((fields[0], fields[-1] if len(fields) > 1 else ""))
            elif current:
                sentences.append(current)
                current = []
    return sentences + ([current] if current else [])


def write_columns(path, sentences):
    """Write sentences of (word, label), with an empty line after each."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.writelines(f"{word}\t{label}\n" for word, label in sentence)
            file.write("\n")


def read_conllu(path):
    """Sentences as lists of rows of ten fields; comments, multiword tokens and empty nodes are left out."""
    sentences, current = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0].isdigit():
                current.append(fields)
            elif fields == [""] and current:
                sentences.append(current)
                current = []
    return sentences + ([current] if current else [])


def write_conllu(path, sentences):
    """Write sentences of rows of ten fields, with an empty line after each."""
    with open(path, "w", encoding="utf-8") as file:
        for sentence in sentences:
            file.writelines("\t".join(row) + "\n" for row in sentence)
            file.write("\n")
