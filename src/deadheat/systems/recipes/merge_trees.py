"""Put the heads and relations that a parser wrote into the text that it read: merge_trees.py INPUT TREES OUTPUT.

For parsers that change or drop the words. Both are CoNLL-U; TREES may stop after its eighth column.
"""

import sys

from text_files import read_conllu, write_conllu


def main():
    source, trees, output = sys.argv[1:]
    sentences, predicted = read_conllu(source), read_conllu(trees)
    sizes, others = ([len(sentence) for sentence in pair] for pair in (sentences, predicted))
    if sizes != others:
        sys.exit(f"{trees}: other numbers of words than in {source}")
    for sentence, tree in zip(sentences, predicted):
        for row, other in zip(sentence, tree):
            row[6], row[7] = other[6], other[7]
    write_conllu(output, sentences)


if __name__ == "__main__":
    main()
