"""Starting, watching and stopping the engine workers."""
