import type { Attempt, Options } from "./types.js";

/** The provider's own form, as far as it is on this page. */
export class Form {
  private remove: (() => void) | null = null;

  constructor(private readonly options: Options) {}

  get open(): boolean {
    return this.remove !== null;
  }

  /** Whether a payment with bodies that are still kept has a form that this page does not show: its answer has to be had again. */
  missing(bodies: string[]): boolean {
    return !!this.options.mount && !this.open && bodies.length > 0;
  }

  show(details: object, attempt: Attempt): void {
    if (this.open) return;
    this.remove = this.options.mount?.(details, attempt) ?? (() => undefined);
  }

  takeAway(): void {
    const { remove } = this;
    this.remove = null;
    remove?.();
  }
}
