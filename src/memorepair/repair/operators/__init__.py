"""What makes successors: the port, the operators that come with the package, their registry."""
