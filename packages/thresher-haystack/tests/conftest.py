from adapter_recipes import home

__all__ = ["home"]
