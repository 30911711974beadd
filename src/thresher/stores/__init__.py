"""Where rows are kept: the register of stores and the one on LanceDB."""
