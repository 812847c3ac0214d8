//! `writd demo`: the main job and its faults on a sandbox.

use clap::Args;

use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// See the main job and its faults on a sandbox.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {}

/// Not in this build.
pub(super) fn run(args: DemoArgs, context: &Context) -> Result<(), Failure> {
    let DemoArgs {} = args;
    let dir = context.state_dir(None)?;
    Err(super::not_in_this_build("demo", &dir))
}
