//! Programs that ask for a device.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use pantile_ir::{Attribute, Env, Op, Program, Type};

/// A warning if the program asks for a device that is not there; everything runs on the CPU.
///
/// # Errors
/// The same as a refusal, if `strict`.
pub(super) fn check(program: &Program, strict: bool) -> Result<Vec<String>> {
    let devices = devices(program);
    if devices.is_empty() {
        return Ok(Vec::new());
    }
    let list: Vec<String> = devices.iter().map(|device| format!("`{device}`")).collect();
    let list = list.join(", ");
    if strict {
        bail!(
            "the program asks for the device {list}; this build has the CPU only (--strict-device)"
        );
    }
    Ok(vec![format!("the program asks for the device {list}; it runs on the CPU")])
}

fn devices(program: &Program) -> BTreeSet<String> {
    let mut devices = BTreeSet::new();
    let mut add = |ty: &Type| {
        if let Type::Array(array) = ty {
            for env in &array.envs {
                if let Env::Gpu(device) = env {
                    devices.insert(device.clone());
                }
            }
        }
    };
    for function in &program.functions {
        function.values.iter().for_each(|value| add(&value.ty));
        function.results.iter().for_each(&mut add);
    }
    for function in &program.functions {
        function.body.walk(&mut |operation| {
            if let Op::Region(Attribute::Opaque(text)) = &operation.op
                && let Some((_, rest)) = text.split_once("gpu_env")
            {
                let device = rest.split('"').nth(1).unwrap_or("gpu");
                devices.insert(device.to_owned());
            }
        });
    }
    devices
}
