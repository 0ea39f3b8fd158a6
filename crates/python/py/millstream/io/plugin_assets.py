"""Files that plugins of TensorBoard keep beside event files: TensorFlow's `plugin_asset`.

An asset belongs to a graph, which holds it in a collection. A `tf.summary.FileWriter` writes the files of a
graph's assets when it writes the graph.
"""

from __future__ import annotations

import abc
import os
from typing import Any, Dict, List

from millstream.framework import get_default_graph
from millstream.io import files

_PREFIX = "__tensorboard_plugin_asset_"


class PluginAsset(abc.ABC):
    """The files of a plugin. A subclass has a `plugin_name`, and defines `assets`."""

    plugin_name: Any = None

    @abc.abstractmethod
    def assets(self) -> Dict[str, Any]:
        """Returns the contents of the files, by name."""
        raise NotImplementedError()


def get_plugin_asset(plugin_asset_cls: Any, graph: Any = None) -> Any:
    """Returns the asset of a class in a graph, which is made at the first call.

    Args:
      plugin_asset_cls: A subclass of `PluginAsset`.
      graph: A graph; by default the default graph.

    Raises:
      ValueError: The class has no name, or another class has the same.

    Example:
      >>> from millstream.io import plugin_assets
      >>> class Notes(plugin_assets.PluginAsset):
      ...     plugin_name = "notes"
      ...     def assets(self):
      ...         return {"notes.txt": "a note"}
      >>> notes = plugin_assets.get_plugin_asset(Notes)
      >>> notes is plugin_assets.get_plugin_asset(Notes)
      True
    """
    graph = graph or get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError("Class %s has no plugin_name" % plugin_asset_cls.__name__)
    key = _PREFIX + plugin_asset_cls.plugin_name
    held = graph.get_collection(key)
    if not held:
        graph.add_to_collection(key, plugin_asset_cls())
        held = graph.get_collection(key)
    if not isinstance(held[0], plugin_asset_cls):
        raise ValueError("Plugin name collision between classes %s and %s" % (plugin_asset_cls.__name__, type(held[0]).__name__))
    return held[0]


def get_all_plugin_assets(graph: Any = None) -> List[Any]:
    """Returns the assets of a graph.

    Args:
      graph: A graph; by default the default graph.

    Returns:
      A list.

    Example:
      >>> from millstream.io import plugin_assets
      >>> plugin_assets.get_all_plugin_assets()
      []
    """
    graph = graph or get_default_graph()
    return [asset for key in graph.get_all_collection_keys() if str(key).startswith(_PREFIX) for asset in graph.get_collection(key)]


def write(graph: Any, logdir: str) -> None:
    """Writes the files of a graph's assets to a directory: `logdir/plugins/name`."""
    for asset in get_all_plugin_assets(graph):
        folder = os.path.join(logdir, "plugins", asset.plugin_name)
        files.MakeDirs(folder)
        for name, content in asset.assets().items():
            with files.GFile(os.path.join(folder, name), "w") as out:
                out.write(content)
