import { strerror } from '../../tool.js'

/** A failure of bootc, with what it was doing in front of it, as anyhow prints it. */
export class BootcFailure extends Error {
  override name = 'BootcFailure'
}

/** Says what bootc was doing; an error of a disk becomes bootc's. */
export async function duringInstallation<T>(doing: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const words = error instanceof BootcFailure ? error.message : strerror(error)
    if (words === undefined) throw error
    throw new BootcFailure(`${doing}: ${words}`)
  }
}
