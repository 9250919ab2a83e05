"""A campaign's runs as a submission tree, and the tree's judgement."""
