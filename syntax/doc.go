package syntax
