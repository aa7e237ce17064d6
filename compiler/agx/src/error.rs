// SPDX-License-Identifier: MIT
//! Why a shader does not compile.

/// Why a shader does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The front end refuses it.
    #[error(transparent)]
    Nir(#[from] mesa_nir::Error),
    /// A construct that the compiler has no code for.
    #[error("the shader needs {0}, which this compiler cannot do")]
    Unsupported(String),
    /// More of something than the hardware has.
    #[error("the shader needs too much: {0}")]
    Limit(String),
    /// A pass broke its own rules: a fault of the compiler.
    #[error("internal compiler error in {pass}: {what}")]
    Internal {
        /// The pass.
        pass: &'static str,
        /// What it found.
        what: String,
    },
}

impl Error {
    /// A construct without code.
    #[must_use]
    pub fn unsupported(what: impl Into<String>) -> Error {
        Error::Unsupported(what.into())
    }
}
