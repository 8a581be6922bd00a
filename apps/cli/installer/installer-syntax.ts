/**
 * Commands that are coreos-installer's: their options, short forms, help and messages are those of its own parser, word
 * for word, so that its command lines work unchanged. They are written here by hand, and are the only ones outside the
 * table of options: coreos-installer reads neither `IRONSTAGE_` variables nor a file of `--config`. `pxe kargs` and `pxe
 * ipxe` are ironstage's own, and have the form of the commands beside them.
 */
export const INSTALLER_COMMANDS: readonly string[] = ['coreos-installer', 'iso', 'pxe']
