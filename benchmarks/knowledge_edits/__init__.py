"""Which edits does `thresher ci` report?"""
