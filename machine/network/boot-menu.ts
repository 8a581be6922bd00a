/** A boot loader's entry: a kernel with its initramfs, by the paths or URLs of the menu. */
export interface MenuEntry {
  kernel: string
  ramdisk: string
  /** The kernel's command line. */
  append: string
}

/** Paths on a medium at which the menus of GRUB and ISOLINUX are looked for. */
export const GRUB_MENUS = [
  ...(['boot/grub/grub.cfg', 'boot/grub2/grub.cfg', 'EFI/BOOT/grub.cfg', 'EFI/redhat/grub.cfg'] as const),
  ...(['EFI/centos/grub.cfg', 'EFI/fedora/grub.cfg', 'EFI/ubuntu/grub.cfg', 'EFI/debian/grub.cfg'] as const),
] as const
export const ISOLINUX_MENUS = ['isolinux/isolinux.cfg', 'syslinux/syslinux.cfg', 'boot/isolinux/isolinux.cfg'] as const

/** The entry that a menu of GRUB starts without a person; undefined for a menu that starts no kernel. */
export function grubEntry(text: string): MenuEntry | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const chosen = lines.map((line) => /^set\s+default=["']?([^"']*)["']?$/.exec(line)?.[1]).find((name) => name) ?? '0'
  const entries: { name: string; lines: string[] }[] = []
  const outside: string[] = []
  for (const line of lines) {
    const [, quoted, bare] = /^menuentry\s+(?:["']([^"']*)["']|(\S+))/.exec(line) ?? []
    const name = quoted ?? bare
    if (name !== undefined) entries.push({ name, lines: [] })
    else (entries.at(-1)?.lines ?? outside).push(line)
  }
  const entry = entries.find(({ name }) => name === chosen) ?? entries[Number(chosen)] ?? entries[0]
  return kernelIn(entry?.lines ?? outside)
}

function kernelIn(lines: readonly string[]): MenuEntry | undefined {
  const [, kernel, append = ''] = first(lines, /^linux(?:efi|16)?\s+(\S+)\s*(.*)$/) ?? []
  const [, ramdisk] = first(lines, /^initrd(?:efi|16)?\s+(\S+)/) ?? []
  return kernel === undefined || ramdisk === undefined
    ? undefined
    : { kernel, ramdisk, append: trimCommandLine(append) }
}

/** The entry that a menu of ISOLINUX or PXELINUX starts without a person; undefined for one that starts no kernel. */
export function isolinuxEntry(text: string): MenuEntry | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const [, chosen] = first(lines, /^default\s+(\S+)/i) ?? []
  const labels: { name: string; lines: string[] }[] = []
  for (const line of lines) {
    const [, name] = /^label\s+(\S+)/i.exec(line) ?? []
    if (name !== undefined) labels.push({ name, lines: [] })
    else labels.at(-1)?.lines.push(line)
  }
  const label = labels.find(({ name }) => name === chosen) ?? labels[0]
  if (!label) return undefined
  const [, kernel] = first(label.lines, /^(?:kernel|linux)\s+(\S+)/i) ?? []
  const [, append = ''] = first(label.lines, /^append\s+(.*)$/i) ?? []
  const [, named] = first(label.lines, /^initrd\s+(\S+)/i) ?? []
  const ramdisk = named ?? /(?:^|\s)initrd=(\S+)/.exec(append)?.[1]
  return kernel === undefined || ramdisk === undefined
    ? undefined
    : { kernel, ramdisk, append: trimCommandLine(append) }
}

function first(lines: readonly string[], pattern: RegExp): RegExpExecArray | undefined {
  for (const line of lines) {
    const found = pattern.exec(line)
    if (found) return found
  }
  return undefined
}

/** Ironic's templates end the command line with the mark between arguments of the kernel and of its first program. */
const trimCommandLine = (text: string): string => text.replace(/\s+--\s*$/, '').trim()
