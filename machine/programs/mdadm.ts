import { findNode } from './block-nodes.js'
import { tool, ToolExit, ToolFailure } from './tool.js'

/** A machine that has never had software RAID: nothing is assembled, no disk is a member. */
export const mdadm = tool(
  'mdadm',
  {
    detail: 'D',
    examine: 'E',
    scan: 's',
    stop: 'S',
    'zero-superblock': '',
    assemble: 'A',
    export: 'Y',
    verbose: 'v',
    force: 'f',
    wait: 'W',
  },
  async ({ inside, stderr }, options) => {
    for (const path of options.rest) {
      if (options.has('stop') || options.has('detail'))
        throw new ToolFailure(`error opening ${path}: No such file or directory`)
      if (!(await findNode(inside, path))) throw new ToolFailure(`cannot open ${path}: No such file or directory`)
      if (options.has('examine')) {
        stderr(`mdadm: No md superblock detected on ${path}.\n`)
        throw new ToolExit(1)
      }
      // Exits with 0: mdadm takes a device that is no member for erased already.
      if (options.has('zero-superblock')) stderr(`mdadm: Unrecognised md component device - ${path}\n`)
    }
  },
)
