// The two files: dropped on the page, or chosen.

import { byId, grouped } from './dom.ts'

/** The files that the user has given so far. */
export interface Files {
  readonly pack: File | undefined
  readonly trust: File | undefined
}

const TRUST_HINT = 'Get it from a person you know, not from the sender of the pack.'

/** Watches the page for files. Calls `onChange` whenever there is another one, and `refuse` if files cannot be taken. */
export function watchFiles(onChange: (files: Files) => void, refuse: (why: string) => void): void {
  new FileCards(onChange, refuse).listen()
}

class FileCards {
  readonly #onChange: (files: Files) => void
  readonly #refuse: (why: string) => void
  #files: Files = { pack: undefined, trust: undefined }

  constructor(onChange: (files: Files) => void, refuse: (why: string) => void) {
    this.#onChange = onChange
    this.#refuse = refuse
  }

  listen(): void {
    this.#listen('pack')
    this.#listen('trust')
    byId('trust-remove', HTMLButtonElement).addEventListener('click', () => this.#take({ trust: undefined }))
    this.#listenToDrops()
  }

  #listen(name: keyof Files): void {
    const input = byId(`${name}-input`, HTMLInputElement)
    input.addEventListener('change', () => {
      const [file] = input.files ?? []
      // The same file may be chosen again after it has changed.
      input.value = ''
      if (file) this.#take({ [name]: file })
    })
  }

  #listenToDrops(): void {
    const veil = byId('drop', HTMLElement)
    let depth = 0
    const veiled = (by: number): void => {
      depth = Math.max(0, depth + by)
      veil.classList.toggle('over', depth > 0)
    }
    document.addEventListener('dragenter', () => veiled(1))
    document.addEventListener('dragleave', () => veiled(-1))
    document.addEventListener('dragover', (event) => event.preventDefault())
    document.addEventListener('drop', (event) => {
      event.preventDefault()
      veiled(-depth)
      void this.#drop([...(event.dataTransfer?.files ?? [])])
    })
  }

  /** Tells packs from trust files by how they begin. One verdict is about one pack and one trust file. */
  async #drop(files: readonly File[]): Promise<void> {
    const sorted: { pack?: File; trust?: File } = {}
    for (const file of files) {
      const name = (await looksLikeTrust(file)) ? 'trust' : 'pack'
      if (sorted[name]) {
        this.#refuse(
          'more than one file of a kind was dropped; verify one pack at a time, with one trust file',
        )
        return
      }
      sorted[name] = file
    }
    this.#take(sorted)
  }

  #take(files: Partial<Files>): void {
    if (Object.keys(files).length === 0) return
    this.#files = { ...this.#files, ...files }
    const { pack, trust } = this.#files
    describe('pack', pack, 'Drop an EvidencePack anywhere on this page.')
    describe('trust', trust, TRUST_HINT)
    byId('trust-remove', HTMLButtonElement).hidden = !trust
    this.#onChange(this.#files)
  }
}

function describe(name: keyof Files, file: File | undefined, hint: string): void {
  byId(`${name}-name`, HTMLElement).textContent = file ? `${file.name}, ${sizeOf(file)}` : hint
  byId(`${name}-card`, HTMLElement).classList.toggle('given', file !== undefined)
}

function sizeOf({ size }: File): string {
  if (size < 1024) return `${size} bytes`
  return size < 1 << 20
    ? `${grouped(Math.ceil(size / 1024))} KiB`
    : `${grouped(Math.ceil(size / (1 << 20)))} MiB`
}

async function looksLikeTrust(file: File): Promise<boolean> {
  try {
    return /^\s*\{/.test(await file.slice(0, 64).text())
  } catch {
    // A folder, or a file that cannot be read: the verification will say so.
    return false
  }
}
